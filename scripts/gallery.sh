#!/usr/bin/env bash
# The pictures and films of liquids, light, vector fields and coded films in docs/images: gallery.sh [fluids] [light] [fields] [coding]. About half an hour of two cores; simulated
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
    local crown=(--check 0.1 --eye 0.045,-0.14,0.07 --target 0,0.01,0.014) small=(--width 420 --height 280) wide=(--width 960 --height 540)
    [ -e "$work/dam-062.ply" ] || tessera make fluid-dam --count 40000 --seconds 2.6 --fps 24 -o "$work/dam-%03d.ply"
    [ -e "$work/crown-005.ply" ] || tessera make fluid-crown --count 150000 --seconds 0.02 --fps 250 -o "$work/crown-%03d.ply"
    [ -e "$work/small-dam-017.ply" ] || tessera make fluid-dam --count 15000 --seconds 0.85 --fps 20 -o "$work/small-dam-%03d.ply"
    [ -e "$work/fall-004.ply" ] || tessera make fluid-waterfall --count 20000 --seconds 2 --fps 2 -o "$work/fall-%03d.ply"
    tessera fluid "$work/dam-050.ply" "${wave[@]}" "${wide[@]}" -o "$images/fluid-water.png"
    tessera fluid "$work/dam-010.ply" "${dam[@]}" "${wide[@]}" --sky sunset -o "$images/fluid-sunset.png"
    tessera fluid "$work/crown-005.ply" "${crown[@]}" "${wide[@]}" --look milk --sky overcast --exposure 0.88 --anisotropic --particle-scale 2.2 -o "$images/fluid-crown.png"
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
    local balls=(--smoother none --foam 0 --particle-scale 1 --thickness-blur 0 --width 480 --height 320 --look milk)
    tessera fluid "$work/small-dam-008.ply" --check 0.5 --eye 1.9,-2.6,1.5 --target 1.0,0.4,0.3 "${balls[@]}" -o "$work/balls-0.png"
    tessera fluid "$work/small-dam-017.ply" --check 0.5 --eye 1.9,-2.6,1.5 --target 1.0,0.4,0.45 "${balls[@]}" -o "$work/balls-1.png"
    tessera fluid "$work/crown-004.ply" --check 0.1 --eye 0.06,-0.2,0.12 --target 0,0,0.02 "${balls[@]}" -o "$work/balls-2.png"
    tessera fluid "$work/fall-004.ply" --check 0.5 --eye 3.6,-2.6,1.9 --target 0.9,0.4,0.5 "${balls[@]}" -o "$work/balls-3.png"
    sheet "$images/fluid-simulation.png" 2 "$work"/balls-[0-3].png
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

# error A B FILTER SCALE FORMAT OUT: SCALE times what two pictures, or frames that FILTER chooses, differ by
error() {
    ffmpeg -loglevel error -y -i "$1" -i "$2" -filter_complex \
        "[0]$3format=$5[a];[1]$3format=$5[b];[a][b]blend=all_mode=difference,lut=y=clip(val*$4\,0\,maxval),scale=480:-2,format=gbrp" -frames:v 1 "$6"
}

coding() {
    local film=$images/fluid-dam.mp4 at='select=eq(n\,30),' rate
    for rate in 250000 1000000; do
        tessera encode "$film" --coding arithmetic --bit-rate "$rate" -o "$work/$rate.drc"
        tessera decode "$work/$rate.drc" -o "$work/$rate.y4m"
        ffmpeg -loglevel error -y -i "$work/$rate.y4m" -vf "${at}scale=480:-2,format=gbrp" -frames:v 1 "$work/$rate.png"
        error "$work/$rate.y4m" "$film" "$at" 8 gray "$work/$rate-error.png"
    done
    sheet "$images/dirac-rates.png" 2 "$work"/250000.png "$work"/1000000.png "$work"/250000-error.png "$work"/1000000-error.png

    # eight views of a head, 16-bit depths of 0.366 mm; JPEG 2000 takes as many bytes a frame as the film within 5 mm
    tessera make scene head --layout arc --count 8 --degrees 14 --size 480,360 --backdrop --depth png --encoding eye -o "$work/head"
    local k
    for k in 0 1 2 3 4 5 6 7; do cp "$work/head/camera0$k-depth.png" "$work/depth-$k.png"; done
    tessera depthfilm "$work/depth-%d.png" --scale 0.000366 -o "$work/exact.tdf"
    tessera depthfilm "$work/depth-%d.png" --scale 0.000366 --largest-error 0.005 -o "$work/near.tdf"
    tessera depthfilm "$work/exact.tdf" -o "$work/exact-%d.png"
    tessera depthfilm "$work/near.tdf" -o "$work/near-%d.png"
    ffmpeg -loglevel error -y -i "$work/depth-3.png" -pix_fmt gray16le -c:v libopenjpeg -compression_level 20 "$work/depth.jp2"
    ffmpeg -loglevel error -y -i "$work/depth-3.png" -vf "format=gray16le,lut=y=clip((30000-val)*2.6\,0\,maxval),format=gbrp" -frames:v 1 "$work/depth.png"
    error "$work/depth-3.png" "$work/exact-3.png" "" 1200 gray16le "$work/error-0.png"
    error "$work/depth-3.png" "$work/near-3.png" "" 1200 gray16le "$work/error-1.png"
    error "$work/depth-3.png" "$work/depth.jp2" "" 1200 gray16le "$work/error-2.png"
    sheet "$images/depth-film.png" 2 "$work/depth.png" "$work"/error-[0-2].png
}

[ $# -gt 0 ] || set -- fluids light fields coding
for what in "$@"; do
    case $what in
    fluids | light | fields | coding) "$what" ;;
    *) echo "gallery.sh: '$what', expected fluids, light, fields or coding" >&2 && exit 2 ;;
    esac
done
