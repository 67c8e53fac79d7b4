#!/bin/sh
# mpi.sh TESSERA EXAMPLE MPIRUN: coefficients that 1, 3 and 4 processes make are those of one, bit for bit, integers and floats.
set -eu
tessera=$1 example=$2 mpirun=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_plm_rsh_agent= # one machine: no remote shell is looked for
"$tessera" make noise --size 20,18,90 -o f32.nrrd
"$tessera" convert f32.nrrd --dtype i16 -o i16.nrrd
"$mpirun" -n 1 true 2>/dev/null || { echo "skipped: $mpirun starts no process here"; exit 77; }
for type in i16 f32; do
    for filter in legall53 fidelity; do
        "$tessera" dwt $type.nrrd --dtype $type --filter $filter --levels 3 --force -o whole.nrrd
        for ranks in 1 3 4; do
            "$mpirun" -n $ranks "$example" $type.nrrd parts.nrrd $filter 3 >log || { cat log; exit 1; }
            test "$(grep -c "of $ranks: slices" log)" = $ranks
            "$tessera" compare whole.nrrd parts.nrrd >/dev/null || { echo "$type $filter: $ranks ranks differ"; exit 1; }
        done
    done
done
echo "1, 3 and 4 ranks: the same coefficients"
