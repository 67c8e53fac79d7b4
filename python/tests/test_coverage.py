"""Which public C functions have a face in Python, which are reachable as tessera.c.NAME alone, and that none is out of reach."""

import re
from pathlib import Path

import pytest

import tessera as ts

PACKAGE = Path(ts.__file__).parent
# What Python does in ways of its own: memory that it counts, text that it parses, structs that it prints.
NOT_NEEDED = re.compile(r"_(destroy|free|parse|name|data|data_const)$")
# Systems whose ways in and out are there: at least these.
FACES = """tsr_rig_read tsr_rig_write tsr_calibrate tsr_chessboard_find tsr_plane_sweep tsr_stereo_match tsr_fusion_add tsr_novel_project tsr_novel_merge
tsr_sweep_add tsr_depth_mesh tsr_depth_decode tsr_lens_warp tsr_lens_search tsr_field_create tsr_field_derive tsr_field_ftle tsr_streamlines_trace
tsr_streamlines_paths tsr_streamlines_tubes tsr_contours_update tsr_contours_eigenplanes tsr_fluid_sim_advance tsr_fluid_draw tsr_fluid_agitate tsr_light_simulate
tsr_light_view tsr_light_trace tsr_light_scene_parse tsr_video_reader_next tsr_video_writer_append tsr_dirac_decoder_next tsr_dirac_encoder_frame
tsr_dirac_inspector_next tsr_dirac_transcoder_push tsr_multiview_read tsr_multiview_write tsr_texturer_step tsr_texturer_draw tsr_footage_create tsr_volume_read
tsr_mesh_write tsr_tiles_read tsr_levelset_advance tsr_term_load tsr_segmentation_run tsr_reconstruct tsr_tiles_from_mesh tsr_tiles_combine tsr_tiles_morph
tsr_surface_extract tsr_volume_dwt tsr_volume_idwt tsr_volume_compress tsr_volume_denoise tsr_distance_transform tsr_region_tree_make tsr_region_tree_find
tsr_mip_render tsr_render tsr_array_to_dlpack tsr_array_from_dlpack
tsr_rig_editor_run tsr_rig_editor_draw tsr_rig_editor_pick tsr_rig_editor_compensate tsr_rig_editor_get_rig tsr_align_edges tsr_target_find tsr_unstructured_read
tsr_surface_extract_unstructured tsr_volume_resample tsr_volume_reorient tsr_labels_count tsr_max_tree_filter tsr_winding_volume
tsr_records_extract tsr_records_update tsr_records_redraw tsr_scene_set_surface_records tsr_surface_update tsr_surface_extract_several tsr_surface_extract_label
tsr_surface_extract_source tsr_surface_order tsr_mesh_join tsr_class_pyramid_count tsr_histogram_otsu tsr_filter_pyramid_synthesise tsr_planes_read
tsr_planes_statistics tsr_volume_add_grid tsr_tiles_add_grid tsr_volume_write_segments tsr_reduce_host tsr_scan tsr_select_indices tsr_sort tsr_histogram_joint
tsr_segmented_reduce tsr_segmented_scan tsr_gather tsr_scatter tsr_scatter_combine tsr_invert tsr_region_merge_tree tsr_region_tree_make_tiled
tsr_region_tree_from_mesh tsr_region_tree_from_triangles tsr_points_from_surface tsr_points_from_source tsr_region_tree_rays tsr_region_tree_grade tsr_wavelet_domain_forward
tsr_wavelet_volume_statistics tsr_wavelet_volume_keep tsr_file_dwt tsr_phantom_make tsr_points_make tsr_map_run tsr_mip_group_render tsr_mip_stream_render
tsr_mip_dense_render tsr_volume_decompress tsr_compressed_decode""".split()


def functions() -> dict[str, list[str]]:
    """Public functions by header."""
    headers = Path(__file__).resolve().parents[2] / "include" / "tessera"
    if not headers.is_dir():
        pytest.skip("no headers beside the package")
    left_out = {"mpi.h", "levelset_term.h"}
    return {h.name: re.findall(r"^TSR_API [^;(]*?\b(tsr_\w+)\(", h.read_text(), re.M) for h in sorted(headers.glob("*.h")) if h.name not in left_out}


def reached() -> set[str]:
    text = "".join(p.read_text() for p in PACKAGE.glob("_*.py") if p.name not in ("_declarations.py", "_tables.py")) + (PACKAGE / "__init__.py").read_text()
    return set(re.findall(r"\btsr_\w+", text))


def test_all_are_reachable() -> None:
    missing = [name for names in functions().values() for name in names if not hasattr(ts.c, name)]
    assert not missing, "not declared: " + ", ".join(missing)


def test_what_has_a_face() -> None:
    used, total, faces = reached(), 0, 0
    for header, names in functions().items():
        wanted = [n for n in names if n in used or not NOT_NEEDED.search(n)]
        without = [n for n in wanted if n not in used]
        total, faces = total + len(wanted), faces + len(wanted) - len(without)
        if without:
            print(f"{header}: {len(wanted) - len(without)} of {len(wanted)}; tessera.c alone has {', '.join(without)}")
    print(f"{faces} of {total} functions have a face in Python")
    assert not [name for name in FACES if name not in used]


def test_no_wrapper_of_what_is_not_there() -> None:
    """A misspelt or removed function would be found by a user only."""
    text = "".join(p.read_text() for p in PACKAGE.glob("_*.py") if p.name not in ("_declarations.py", "_tables.py"))
    named = set(re.findall(r"\blib\.(tsr_\w+)", text)) | {n for n in re.findall(r'_call\(\s*"(tsr_\w+)"', text)}
    assert len(named) > 200
    assert not [name for name in sorted(named) if not hasattr(ts.c, name)]


def test_public_names() -> None:
    """All that __all__ names is there, documented, and has an example that is run."""
    bare, silent = [], []
    for name in ts.__all__:
        value = getattr(ts, name)
        if name in ("c", "ffi", "__version__"):
            continue
        text = value.__doc__ or ""
        if not text.strip():
            bare.append(name)
        elif ">>>" not in text:
            silent.append(name)
    assert not bare, f"no text: {bare}"
    print("without an example:", ", ".join(silent))
    # What cannot have one: errors, results that others make, programs and libraries that tests must do without.
    assert not [n for n in silent if not isinstance(getattr(ts, n), type) and n not in ("view", "to_simpleitk", "to_xarray", "to_trimesh", "to_pyvista", "to_meshio", "to_open3d", "to_vtk", "to_zarr")]
