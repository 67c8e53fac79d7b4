#!/usr/bin/env bash
# The pictures and films of liquids, light and vector fields in docs/images: gallery.sh [fluids] [light] [fields]. About half an hour of two cores; simulated
# particles stay in build/gallery. TESSERA: the program, else that of the build. ffmpeg writes films and puts pictures side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${TESSERA:-build/release/bin/tessera}
images=docs/images
work=build/gallery
mkdir -p "$work"
export OMP_WAIT_POLICY=passive
tessera() { "$program" "$@" --force; }

# 0+w0+w0: COUNT times NAME
times() {
    local sum=0 k
    for ((k = 0; k < $2; k++)); do sum+="+$1"; done
    echo "$sum"
}

# sheet OUT COLUMNS FILE...: pictures of one size in rows
sheet() {
    local out=$1 columns=$2 count=0 inputs=() layout=""
    shift 2
    for file in "$@"; do
        inputs+=(-i "$file")
        layout+="${layout:+|}$(times w0 $((count % columns)))_$(times h0 $((count / columns)))"
        count=$((count + 1))
    done
    ffmpeg -loglevel error -y "${inputs[@]}" -filter_complex "xstack=inputs=$count:layout=$layout" -frames:v 1 "$out"
}

# shellcheck disable=SC2054 # the commas belong to the values
fluids() {
    local dam=(--check 0.5 --eye 1.9,-2.6,1.5 --target 1.0,0.4,0.25) wave=(--check 0.5 --eye 2.4,-1.5,1.0 --target 0.7,0.4,0.3)
    local crown=(--check 0.1 --eye 0.06,-0.2,0.12 --target 0,0,0.02) small=(--width 420 --height 280) wide=(--width 960 --height 540)
    [ -e "$work/dam-062.ply" ] || tessera make fluid-dam --count 40000 --seconds 2.6 --fps 24 -o "$work/dam-%03d.ply"
    [ -e "$work/crown-039.ply" ] || tessera make fluid-crown --count 60000 --seconds 0.16 --fps 250 -o "$work/crown-%03d.ply"
    tessera fluid "$work/dam-050.ply" "${wave[@]}" "${wide[@]}" -o "$images/fluid-water.png"
    tessera fluid "$work/dam-010.ply" "${dam[@]}" "${wide[@]}" --sky sunset -o "$images/fluid-sunset.png"
    tessera fluid "$work/crown-004.ply" "${crown[@]}" "${wide[@]}" --look milk --sky overcast --exposure 0.85 -o "$images/fluid-crown.png"
    tessera fluid "$work/dam-058.ply" "${wave[@]}" "${wide[@]}" --look lava --sky night --exposure 1.3 -o "$images/fluid-lava.png"
    tessera fluid "$work/dam-012.ply" "${dam[@]}" "${small[@]}" -o "$work/look-0.png"
    tessera fluid "$work/dam-012.ply" "${dam[@]}" "${small[@]}" --look oil --sky studio --exposure 0.8 -o "$work/look-1.png"
    tessera fluid "$work/dam-012.ply" "${dam[@]}" "${small[@]}" --look milk --exposure 0.9 -o "$work/look-2.png"
    tessera fluid "$work/dam-012.ply" "${dam[@]}" "${small[@]}" --look lava --sky night --exposure 1.3 -o "$work/look-3.png"
    tessera fluid "$work/dam-012.ply" "${dam[@]}" "${small[@]}" --look honey --sky sunset -o "$work/look-4.png"
    tessera fluid "$work/dam-012.ply" "${dam[@]}" "${small[@]}" --curvature -o "$work/look-5.png"
    sheet "$images/fluid-looks.png" 3 "$work"/look-[0-5].png
    local k=0
    for how in "--smoother none" "--smoother flow" "--smoother implicit" "--smoother narrow-range" "--resolution quarter" "--layers 3"; do
        # shellcheck disable=SC2086 # options and their values
        tessera fluid "$work/dam-050.ply" "${wave[@]}" "${small[@]}" --look oil $how -o "$work/smoother-$k.png"
        k=$((k + 1))
    done
    sheet "$images/fluid-smoothers.png" 3 "$work"/smoother-[0-5].png
    tessera fluid "$work"/dam-0[0-6]?.ply "${dam[@]}" --width 640 --height 360 --rate 24 -o "$images/fluid-dam.mp4"
}

light() {
    local scene
    tessera light wine-glass -o "$images/light-wine.png"
    tessera light amber -o "$images/light-amber.png"
    for scene in rounded-cube:cube glass-sphere:sphere smoke:smoke glass-block:block still-life:still-life emissive-sphere:ember jade:jade; do
        tessera light "${scene%:*}" --width 560 -o "$images/light-${scene#*:}.png"
    done
    tessera light glass-sphere --relight --frames 36 --turn 360 --width 320 --height 240 --resolution 56 -o "$images/light-relight.mp4"
}

fields() {
    local name
    for name in saddle focus benzene storm; do tessera make "field-$name" -o "$work/$name.nrrd"; done
    tessera make field-abc -o "$work/abc.nrrd"
    tessera contours "$work/focus.nrrd" --azimuth 25 --elevation 60 --box --width 720 --height 720 -o "$images/contours-focus.png"
    tessera contours "$work/saddle.nrrd" --azimuth 25 --elevation 30 --box --width 720 --height 720 -o "$images/contours-saddle.png"
    tessera contours "$work/benzene.nrrd" --azimuth 20 --elevation 60 --thinning 1.5 --max-steps 90 --width 720 --height 720 -o "$images/contours-benzene.png"
    tessera contours "$work/storm.nrrd" --azimuth 20 --elevation 38 --max-steps 90 --thinning 0.7 --box --width 900 --height 600 -o "$images/contours-storm.png"
    tessera contours "$work/focus.nrrd" --search -o "$images/contours-eigenplane.png"
    tessera streamlines "$work/abc.nrrd" --count 200 --max-steps 160 --color vorticity --box -o "$images/streamlines-abc.png"
}

[ $# -gt 0 ] || set -- fluids light fields
for what in "$@"; do
    case $what in
    fluids | light | fields) "$what" ;;
    *) echo "gallery.sh: '$what', expected fluids, light or fields" >&2 && exit 2 ;;
    esac
done
