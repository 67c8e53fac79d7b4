set -e
M=$PWD; cd .scratch; nvidia-smi --query-gpu=name,clocks.sm --format=csv,noheader
for f in harness.cu $M/src/grid/tiles_cuda.cu $M/src/levelset/levelset_cuda.cu $M/src/grid/volume_cuda.cu $M/src/grid/distance_cuda.cu $M/src/device/cuda/backend.cu; do (nvcc -O3 -std=c++17 -lineinfo -arch=sm_90 -fmad=false -w -I. -I$M/include -I$M/src -c $f -o /tmp/$(basename $f).o) & done; wait
gcc -std=gnu11 -O2 -I$M/include -I$M/src -c $M/src/device/module.c -o /tmp/module.o
nvcc -o /tmp/h /tmp/*.cu.o /tmp/module.o
/tmp/h 64 3 100 1; /tmp/h 64 2 100 1; /tmp/h 64 3 100 1 0 1
/tmp/h 256 3 2000 0; /tmp/h 256 2 2000 0; /tmp/h 256 3 2000 0 0 0 4;  /tmp/h 256 2 2000 0 0 0 4
/tmp/h 1024 3 200 0 0 0 10; /tmp/h 1024 2 200 0 0 0 10

ncu --clock-control none -k regex:kernel -c 40 --section SpeedOfLight --section LaunchStats /tmp/h 1024 3 2 0 0 0 10 > $OUT/ncu1024.txt 2>&1 || true
grep -E "^  [a-z].*kernel|Duration|DRAM Throughput|Compute \(SM\)|Memory Throughput" $OUT/ncu1024.txt | head -90
