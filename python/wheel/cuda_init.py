"""The CUDA module of tessera. Nothing to import: `tessera` finds the library in this folder."""
