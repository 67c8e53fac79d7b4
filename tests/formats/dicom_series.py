"""DICOM beside pydicom, and beside SimpleITK and nibabel for places: every transfer syntax and layout, series, files of many frames, what is refused.

    dicom_series.py TESSERA      exit code 77: no numpy or pydicom
"""
import os
import shutil
import subprocess

from peers import info, main, numpy, require_same, run, skip, tessera, transfers, volume

try:
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.encaps import encapsulate
    from pydicom.sequence import Sequence
    from pydicom.uid import UID, ExplicitVRBigEndian, ExplicitVRLittleEndian, ImplicitVRLittleEndian, DeflatedExplicitVRLittleEndian, RLELossless, generate_uid
except ImportError:
    skip("pydicom")

try:
    import imagecodecs
except ImportError:
    imagecodecs = None
try:
    import SimpleITK
except ImportError:
    SimpleITK = None
try:
    import nibabel
except ImportError:
    nibabel = None

HELPER = os.environ.get("TESSERA_DICOM") or os.path.join(os.path.dirname(tessera), "tessera-dicom")
CT = "1.2.840.10008.5.1.4.1.1.2"
UIDS = iter(range(1, 1 << 30))


def uid():
    return f"1.2.826.0.1.3680043.8.498.{next(UIDS)}"


def dataset(pixels, series="1.2.3.4", syntax=ExplicitVRLittleEndian, **attributes):
    """A slice, or frames, of an array of rows, columns and perhaps three samples behind."""
    d = Dataset()
    d.file_meta = FileMetaDataset()
    d.file_meta.TransferSyntaxUID = syntax
    d.file_meta.MediaStorageSOPClassUID = CT
    d.SOPClassUID = CT
    d.SOPInstanceUID = d.file_meta.MediaStorageSOPInstanceUID = uid()
    d.SeriesInstanceUID = series
    d.StudyInstanceUID = "1.2.3"
    d.Modality = "CT"
    colour = pixels.ndim > 2 and pixels.shape[-1] == 3
    shape = pixels.shape[:-1] if colour else pixels.shape
    d.Rows, d.Columns = shape[-2:]
    if len(shape) == 3:
        d.NumberOfFrames = shape[0]
    d.SamplesPerPixel = 3 if colour else 1
    d.PhotometricInterpretation = "RGB" if colour else "MONOCHROME2"
    if colour:
        d.PlanarConfiguration = 0
    d.BitsAllocated = d.BitsStored = 8 * pixels.dtype.itemsize
    d.HighBit = d.BitsStored - 1
    d.PixelRepresentation = int(pixels.dtype.kind == "i")
    for name, value in attributes.items():
        setattr(d, name, value)
    order = ">" if syntax == ExplicitVRBigEndian else "<"
    d.PixelData = pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    if len(d.PixelData) % 2:
        d.PixelData += b"\0"
    d["PixelData"].VR = "OW" if pixels.dtype.itemsize > 1 else "OB"
    return d


def save(d, path):
    d.save_as(path, enforce_file_format=True)


def packed(d, frames, syntax):
    d.file_meta.TransferSyntaxUID = UID(syntax)
    d.PixelData = encapsulate([bytes(f) for f in frames])
    d["PixelData"].VR = "OB"
    d["PixelData"].is_undefined_length = True
    return d


def series(folder, positions, orientation=(1, 0, 0, 0, 1, 0), uid_of="1.2.3.4", seed=0, names=None, **attributes):
    """One file a slice, named in an order that has nothing to do with the places. Returns the voxels."""
    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(seed)
    voxels = random.integers(-1000, 1000, (len(positions), 5, 7)).astype("i2")
    order = random.permutation(len(positions))
    for k in range(len(positions)):
        d = dataset(voxels[k], uid_of, ImagePositionPatient=[float(f"{v:.6f}") for v in positions[k]], ImageOrientationPatient=list(orientation), PixelSpacing=[0.5, 0.75],
                    SliceThickness=2, InstanceNumber=int(order[k]) + 1, **{n: v(k) if callable(v) else v for n, v in attributes.items()})
        save(d, f"{folder}/{names or 'IM'}{order[k]:04d}")
    return voxels


def affine(path, *options):
    """In RAS, as NIfTI says it."""
    run("convert", path, *options, "-o", "affine.nii", "--force")
    return nibabel.load("affine.nii").affine


# ---- one file ---------------------------------------------------------------------------------------------------------------------------------------


def types(random):
    for code in ("u1", "i1", "u2", "i2", "u4", "i4"):
        for syntax in (ExplicitVRLittleEndian, ImplicitVRLittleEndian, ExplicitVRBigEndian, DeflatedExplicitVRLittleEndian):
            low, high = (numpy.iinfo(code).min, numpy.iinfo(code).max) if code[1] < "4" else (0, 2**31 - 1)
            a = random.integers(low, high, (3, 5, 7)).astype(code)
            save(dataset(a, syntax=syntax), "a.dcm")
            require_same(volume("a.dcm"), a, code, syntax)
            if syntax != DeflatedExplicitVRLittleEndian:  # the data set alone: no preamble, no group 2
                raw = open("a.dcm", "rb").read()
                open("bare.dcm", "wb").write(raw[144 + int.from_bytes(raw[140:144], "little"):])
                require_same(volume("bare.dcm"), a, "bare", code, syntax)
            c = random.integers(0, 200, (6, 8, 3)).astype(code)
            if code in ("u1", "u2"):
                save(dataset(c, syntax=syntax), "c.dcm")
                run("convert", "c.dcm", "-o", "c.npy", "--force")
                require_same(numpy.load("c.npy"), numpy.moveaxis(c, 2, 0), "colour", code, syntax)
                d = dataset(c, syntax=syntax)
                d.PlanarConfiguration = 1
                order = ">" if syntax == ExplicitVRBigEndian else "<"
                d.PixelData = numpy.moveaxis(c, 2, 0).astype(c.dtype.newbyteorder(order)).tobytes()
                save(d, "c.dcm")
                run("convert", "c.dcm", "-o", "c.npy", "--force")
                require_same(numpy.load("c.npy"), numpy.moveaxis(c, 2, 0), "planes", code, syntax)


def few_bits(random):
    a = random.integers(0, 4096, (5, 7)).astype("u2")
    noisy = a | (random.integers(0, 16, a.shape).astype("u2") << 12)  # overlays lay there once
    save(dataset(noisy, BitsStored=12, HighBit=11), "a.dcm")
    require_same(volume("a.dcm"), a[None])
    s = (a.astype("i4") - 2048).astype("i2")
    save(dataset((s.view("u2") & 4095) | (noisy & 0xF000), BitsStored=12, HighBit=11, PixelRepresentation=1), "a.dcm")
    require_same(volume("a.dcm"), s[None])
    mask = random.integers(0, 2, (3, 5, 7)).astype("u1")
    d = dataset(mask, BitsAllocated=1, BitsStored=1, HighBit=0)
    d.PixelData = numpy.packbits(mask.ravel(), bitorder="little").tobytes()
    save(d, "a.dcm")
    require_same(volume("a.dcm"), mask)
    table = [random.integers(0, 256, 200).astype("u1") for _ in range(3)]
    p = random.integers(0, 256, (5, 7)).astype("u1")
    d = dataset(p, PhotometricInterpretation="PALETTE COLOR")
    for name, t in zip(("Red", "Green", "Blue"), table):
        setattr(d, f"{name}PaletteColorLookupTableDescriptor", [200, 10, 8])
        setattr(d, f"{name}PaletteColorLookupTableData", t.tobytes())
    save(d, "a.dcm")
    expected = numpy.stack([t[numpy.clip(p.astype(int) - 10, 0, 199)] for t in table])
    require_same(volume("a.dcm"), expected)
    lut = random.integers(0, 65536, 100).astype("u2")
    d = dataset(p)
    item = Dataset()
    item.LUTDescriptor, item.LUTData, item.ModalityLUTType = [100, 50, 16], lut.tobytes(), "US"
    item["LUTData"].VR = "OW"
    d.ModalityLUTSequence = Sequence([item])
    save(d, "a.dcm")
    require_same(volume("a.dcm"), lut[numpy.clip(p.astype(int) - 50, 0, 99)][None])


def codecs(random):
    """What imagecodecs packs; lossless ones must come back as they were."""
    smooth = (numpy.add.outer(numpy.arange(40) * 3, numpy.arange(36) * 5) % 4000).astype("u2")
    grey16 = (smooth + random.integers(0, 50, smooth.shape).astype("u2")).astype("u2")
    grey8 = (grey16 >> 4).astype("u1")
    colour = numpy.stack([grey8, 255 - grey8, grey8 // 2], 2)
    for a in (grey8, grey16, (grey16.astype("i4") - 2000).astype("i2"), colour):
        d = dataset(numpy.stack([a, a[::-1].copy()]))
        d.compress(RLELossless, encoding_plugin="pydicom", generate_instance_uid=False)
        save(d, "r.dcm")
        for frame in (0, 1):
            options = ("--frame", str(frame)) if a.ndim == 3 else ()
            got, expected = volume("r.dcm", *options), (a, a[::-1])[frame]
            require_same(got if a.ndim == 3 else got[frame], numpy.moveaxis(expected, 2, 0) if a.ndim == 3 else expected, "rle", a.dtype)
    if imagecodecs is None:
        print("left out: no imagecodecs: JPEG, JPEG-LS, JPEG 2000")
        return
    if not os.access(HELPER, os.X_OK):
        save(packed(dataset(grey8), [imagecodecs.jpegls_encode(grey8)], "1.2.840.10008.1.2.4.80"), "no.dcm")
        run("info", "no.dcm", fails="tessera-dicom, which is built where GDCM (libgdcm-dev) is found")
        print("left out: no tessera-dicom: JPEG, JPEG-LS, JPEG 2000")
        return
    lossless = {
        "1.2.840.10008.1.2.4.57": lambda a: imagecodecs.ljpeg_encode(a, bitspersample=8 * a.itemsize),
        "1.2.840.10008.1.2.4.70": lambda a: imagecodecs.ljpeg_encode(a, bitspersample=8 * a.itemsize),
        "1.2.840.10008.1.2.4.80": imagecodecs.jpegls_encode,
        "1.2.840.10008.1.2.4.90": lambda a: imagecodecs.jpeg2k_encode(a, level=0, codecformat="j2k", reversible=True),
    }
    for syntax, encode in lossless.items():
        for a in (grey8, grey16):
            save(packed(dataset(a), [encode(a)], syntax), "p.dcm")
            require_same(volume("p.dcm"), a[None], syntax, a.dtype)
            d = packed(dataset(numpy.stack([a, a.T.copy().T[::-1].copy()])), [encode(a), encode(a[::-1].copy())], syntax)
            save(d, "p.dcm")
            require_same(volume("p.dcm"), numpy.stack([a, a[::-1]]), syntax, a.dtype, "frames")
            require_same(volume("p.dcm", "--box", "3,4,1:20,30,2"), a[::-1][None, 4:30, 3:20], syntax, "box")
            transfers("p.dcm", numpy.stack([a, a[::-1]]), ["p.nrrd"])
    for syntax, bytes_of in (("1.2.840.10008.1.2.4.80", imagecodecs.jpegls_encode(colour)),
                             ("1.2.840.10008.1.2.4.90", imagecodecs.jpeg2k_encode(colour, level=0, codecformat="j2k", reversible=True, mct=False))):
        save(packed(dataset(colour), [bytes_of], syntax), "p.dcm")
        require_same(volume("p.dcm"), numpy.moveaxis(colour, 2, 0), syntax, "colour")
    # lossy ones beside their own decoder
    save(packed(dataset(grey8), [imagecodecs.jpeg8_encode(grey8, level=90)], "1.2.840.10008.1.2.4.50"), "p.dcm")
    near = imagecodecs.jpeg8_decode(imagecodecs.jpeg8_encode(grey8, level=90))
    assert numpy.abs(volume("p.dcm")[0].astype(int) - near).max() <= 1
    jpeg = imagecodecs.jpeg8_encode(colour, level=90)
    save(packed(dataset(colour, PhotometricInterpretation="YBR_FULL_422"), [jpeg], "1.2.840.10008.1.2.4.50"), "p.dcm")
    off = numpy.abs(numpy.moveaxis(volume("p.dcm"), 0, 2).astype(int) - imagecodecs.jpeg8_decode(jpeg))
    assert off.mean() < 1 and off.max() < 40, (off.mean(), off.max())
    wavelet = imagecodecs.jpeg2k_encode(grey16, level=60, codecformat="j2k")
    save(packed(dataset(grey16), [wavelet], "1.2.840.10008.1.2.4.91"), "p.dcm")
    assert numpy.abs(volume("p.dcm")[0].astype(int) - imagecodecs.jpeg2k_decode(wavelet)).max() <= 1
    # damage is said, and the helper's end, too
    save(packed(dataset(grey16), [wavelet[:40]], "1.2.840.10008.1.2.4.91"), "p.dcm")
    run("convert", "p.dcm", "-o", "x.npy", "--force", fails="p.dcm: DICOM: pixels packed by transfer syntax 1.2.840.10008.1.2.4.91")
    environment = dict(os.environ, TESSERA_DICOM="/nowhere/tessera-dicom")
    gone = subprocess.run([tessera, "convert", "p.dcm", "-o", "x.npy", "--force"], capture_output=True, text=True, check=False, env=environment)
    assert gone.returncode == 1 and "need the program tessera-dicom" in gone.stderr, gone.stderr


# ---- public files ------------------------------------------------------------------------------------------------------------------------------------

RLE_FRAMES = "dcm2niix unpacks RLE of several frames as if it were one: all but the beginning of the first are bytes of other places"
# Files that pydicom carries and reads otherwise, and why.
OTHERWISE = {
    "JPEG-lossy.dcm": "extended JPEG of 12 bits, which pillow does not unpack",
    "JPGExtended.dcm": "extended JPEG of 12 bits, which pillow does not unpack",
    "MR_truncated.dcm": "refused: truncated; pydicom refuses it, too",
    "rtplan_truncated.dcm": "no pixels",
    "badVR.dcm": "a header only",
    "GDCMJ2K_TextGBR.dcm": "its colours are said to be RGB, and its codestream is in Y, Cb, Cr",
}


def public_files(_):
    import pydicom.data
    folder = os.path.join(os.path.dirname(pydicom.data.__file__), "test_files")  # what the package carries; its own functions fetch more
    read = refused = 0
    helper = os.access(HELPER, os.X_OK)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not name.endswith(".dcm") or name in OTHERWISE:
            continue
        d = pydicom.dcmread(path, force=True)
        try:
            expected = d.pixel_array
        except Exception:  # noqa: BLE001  no pixels, or no decoder
            continue
        syntax = d.file_meta.get("TransferSyntaxUID", "1.2.840.10008.1.2")
        lossy = syntax.startswith("1.2.840.10008.1.2.4")
        if lossy and not helper:
            continue
        colour = d.get("SamplesPerPixel", 1) == 3
        if d.get("PhotometricInterpretation") == "PALETTE COLOR":
            expected = pydicom.pixels.apply_color_lut(expected, d)
            colour = True
        slope, intercept = float(d.get("RescaleSlope", d.get("DoseGridScaling", 1))), float(d.get("RescaleIntercept", 0))
        if not colour and (slope != 1 or intercept != 0):
            expected = expected * slope + intercept
        if int(d.get("NumberOfFrames", 1) or 1) == 1:
            expected = expected[None]
        if os.environ.get("DICOM_VERBOSE"):
            print(name, d.get("PhotometricInterpretation"), syntax, expected.shape)
        for frame in range(min(len(expected), 3)):
            got = volume(path, *(("--frame", str(frame)) if colour and len(expected) > 1 else ()))
            want = numpy.moveaxis(expected[frame], 2, 0) if colour else expected[frame][None]
            if not colour and got.shape[0] > 1:
                got = got[frame:frame + 1]
            assert got.shape == want.shape, (name, got.shape, want.shape)
            off = numpy.abs(got.astype("f8") - want)
            limit = 1e-6 * max(1, numpy.abs(want).max()) if not lossy and not colour else 1 if not colour else 3
            if colour and lossy:
                assert off.mean() < 3, (name, frame, off.mean(), off.max())
            else:
                assert off.max() <= limit, (name, frame, off.max(), limit)
        read += 1
    print(f"{read} files of pydicom read alike")
    assert read > 30, (read, refused)


# ---- series -------------------------------------------------------------------------------------------------------------------------------------------


def places(random):
    """Orders, oblique and tilted slices, decreasing ones; the affine matrix worked out here, SimpleITK's and nibabel's."""
    turn = numpy.linalg.qr(random.standard_normal((3, 3)))[0]
    for number, (orientation, step) in enumerate((
            ((1, 0, 0, 0, 1, 0), (0, 0, 2.5)), ((1, 0, 0, 0, 1, 0), (0, 0, -2.5)), ((0, 1, 0, 0, 0, -1), (-3, 0, 0)),
            (tuple(turn[0]) + tuple(turn[1]), tuple(2.25 * numpy.cross(turn[0], turn[1]))),
            ((1, 0, 0, 0, numpy.cos(0.3), -numpy.sin(0.3)), (0, 0, 4.0)))):  # gantry tilt: the table moves along z
        orientation = tuple(float(f"{v:.9f}") for v in orientation)
        positions = [numpy.array((-100.0, 20, 5)) + k * numpy.array(step) for k in range(6)]
        folder = f"place{number}"
        voxels = series(folder, positions, orientation, seed=number, RescaleSlope=1, RescaleIntercept=-1024)
        normal = numpy.cross(orientation[:3], orientation[3:])
        if numpy.dot(step, normal) < 0:
            voxels, positions, step = voxels[::-1], positions[::-1], tuple(-numpy.array(step))
        require_same(volume(folder), (voxels.astype("i4") - 1024).astype("i2"), number)
        lps = numpy.column_stack([0.75 * numpy.array(orientation[:3]), 0.5 * numpy.array(orientation[3:]), step, positions[0]])
        expected = numpy.vstack([numpy.diag((-1, -1, 1)) @ lps, (0, 0, 0, 1)])
        if nibabel is not None:
            got = affine(folder)
            assert numpy.abs(got - expected).max() < 1e-4, (number, got, expected)
        said = subprocess.run([tessera, "info", folder], capture_output=True, text=True, check=True)
        assert ("gantry tilt" in said.stdout + said.stderr) == (number == 4), (said.stdout, said.stderr)
        if SimpleITK is not None and number < 4:  # it has no sheared geometry
            names = SimpleITK.ImageSeriesReader.GetGDCMSeriesFileNames(folder)
            image = SimpleITK.ReadImage(names)
            require_same(SimpleITK.GetArrayFromImage(image).astype("i4"), voxels.astype("i4") - 1024, "SimpleITK", number)
            assert numpy.allclose(image.GetOrigin(), positions[0], atol=1e-4) and numpy.allclose(image.GetSpacing(), (0.75, 0.5, numpy.linalg.norm(step)), atol=1e-4)
        run("convert", folder, "--box", "1,2,1:6,4,5", "-o", "box.npy", "--force")
        require_same(numpy.load("box.npy"), (voxels.astype("i4") - 1024).astype("i2")[1:5, 2:4, 1:6])
        transfers(folder, (voxels.astype("i4") - 1024).astype("i2"), ["t.nrrd"])


DOSE = "dcm2niix neither multiplies by DoseGridScaling nor places slices by GridFrameOffsetVector"
RLE_FRAMES = "dcm2niix unpacks RLE of several frames as if it were one: all but the beginning of the first are bytes of other places"
# Files that pydicom carries and dcm2niix reads otherwise, and why.
UNLIKE_DCM2NIIX = {
    "JPEG2000.dcm": "it says no orientation: dcm2niix turns its rows over",
    "J2K_pixelrep_mismatch.dcm": "its data set calls signed what the codestream calls unsigned: dcm2niix has 8192 too much below 0, and shears the picture by a tilt "
                                 "that its orientation holds already",
    "badVR.dcm": DOSE,
    **{f"rtdose{end}.dcm": DOSE for end in ("", "_1frame", "_expb", "_expb_1frame", "_rle_1frame")},
    "rtdose_rle.dcm": RLE_FRAMES,
}


def differs_as_known(source, a, b):
    """Are the numbers of dcm2niix (a) and ours (b) apart by just what is said above?"""
    name = os.path.basename(source)
    if name == "JPEG2000.dcm":
        return numpy.array_equal(a[:, ::-1], b)
    if name == "J2K_pixelrep_mismatch.dcm":
        return numpy.array_equal(a.astype("i4") - 8192 * (a > 4095), b)
    if UNLIKE_DCM2NIIX.get(name) == RLE_FRAMES:
        d = pydicom.dcmread(source)  # nibabel has x, y, z in RAS: rows of the other order
        return numpy.allclose((d.pixel_array * float(d.DoseGridScaling)).T[::-1, ::-1], b, rtol=1e-6)
    return UNLIKE_DCM2NIIX.get(name) == DOSE and numpy.allclose(a * float(pydicom.dcmread(source).DoseGridScaling), b, rtol=1e-6)


def canonical(path, *options):
    """Real values and affine in RAS order, as nibabel has them; None where there is more than one number a voxel."""
    image = nibabel.as_closest_canonical(nibabel.load(path))
    data = numpy.asanyarray(image.dataobj)
    return (data, image.affine) if data.dtype.names is None else (None, None)


def beside_dcm2niix(_):
    """Generated series of every orientation, and single files of pydicom's: values and places of every voxel as dcm2niix has them. What it makes of uneven and tilted
    series is another grid (--deshear is ours), and colours and films it writes as other shapes: these are left out."""
    import pydicom.data
    if nibabel is None or not shutil.which("dcm2niix"):
        print("left out: no dcm2niix (Debian's package) or nibabel")
        return
    folder = os.path.join(os.path.dirname(pydicom.data.__file__), "test_files")
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".dcm")]
    alike, other = 0, []
    for source in [f"place{k}" for k in range(4)] + files:
        shutil.rmtree("peer", ignore_errors=True)
        os.makedirs("peer")
        subprocess.run(["dcm2niix", "-z", "n", "-b", "n", "-f", "x%s", "-o", "peer", *(["-s", "y"] if os.path.isfile(source) else []), source], capture_output=True, check=False)
        made = [name for name in os.listdir("peer") if name.endswith(".nii")]
        if len(made) != 1 or subprocess.run([tessera, "convert", source, "-o", "own.nii", "--force"], capture_output=True, check=False).returncode:
            continue
        (a, place), (b, own) = canonical(f"peer/{made[0]}"), canonical("own.nii")
        if a is None or b is None or a.ndim != 3 or a.shape != b.shape:
            continue
        if numpy.allclose(a, b, rtol=1e-6) and numpy.allclose(place[:3, :3], own[:3, :3], atol=1e-4) and numpy.allclose(place, own, atol=1e-2):
            alike += 1
        else:
            other.append((os.path.basename(source), float(numpy.abs(a.astype("f8") - b).max()), float(numpy.abs(place - own).max()), differs_as_known(source, a, b)))
    print(alike, "series and files as dcm2niix has them; otherwise:", other)
    assert alike >= 4 and all(known for *_, known in other), other


def uneven(random):
    even = [(0, 0, 2.0 * k) for k in range(8)]
    series("missing", even[:3] + even[4:])
    run("info", "missing", fails="slices 2 and 3 lie 4 mm apart, 2 is usual (are some missing?)")
    run("convert", "missing", "--box", "0,0,3:7,5,7", "-o", "x.npy", "--force")
    odd = [(0, 0, z) for z in (0, 2, 4.3, 6, 8)]
    series("odd", odd)
    run("info", "odd", fails="are not evenly spaced")
    voxels = series("slightly", [(0, 0, z) for z in (0, 2, 4.06, 6, 8)])
    said = subprocess.run([tessera, "convert", "slightly", "-o", "x.npy", "--force"], capture_output=True, text=True, check=True)
    assert "not quite evenly spaced" in said.stderr, said.stderr
    require_same(numpy.load("x.npy"), voxels)
    series("twice", even + [even[3]])
    run("info", "twice", fails="nothing says which of them are missing: there twice, or of different kinds?")
    # the same file under two names is one picture
    voxels = series("copies", even)
    shutil.copy("copies/IM0003", "copies/copy")
    said = subprocess.run([tessera, "convert", "copies", "-o", "x.npy", "--force"], capture_output=True, text=True, check=True)
    assert "1 pictures are there twice" in said.stderr or "there twice" in said.stderr, said.stderr
    require_same(numpy.load("x.npy"), voxels)
    # several pictures of every place are frames, in the order of time
    os.makedirs("time", exist_ok=True)
    a = random.integers(0, 1000, (3, 4, 5, 7)).astype("u2")
    for t in range(3):
        for z in range(4):
            save(dataset(a[t, z], "1.9", ImagePositionPatient=[0, 0, 3.0 * z], ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[1, 1], AcquisitionNumber=t + 1,
                         InstanceNumber=4 * (2 - t) + z), f"time/{random.integers(1 << 30):09d}")
    for t in range(3):
        require_same(volume("time", "--frame", str(t)), a[t])
    run("convert", "time", "-o", "x.npy", "--force", fails="frame")
    run("convert", "time", "--frames", "0-", "-o", "time.nii.gz", "--force")
    if nibabel is not None:
        assert numpy.array_equal(numpy.asanyarray(nibabel.load("time.nii.gz").dataobj).T, a[:, :, ::-1, ::-1]) or numpy.array_equal(
            numpy.asanyarray(nibabel.load("time.nii.gz").dataobj).T, a)
    gaps(a, random)


def gaps(a, random):
    """Pictures that are missing at one time: the place is known, the gap is named and holds zeros."""
    os.makedirs("gap", exist_ok=True)
    for t in range(3):
        for z in range(4):
            if (t, z) != (1, 2):
                save(dataset(a[t, z], "1.9", ImagePositionPatient=[0, 0, 3.0 * z], ImageOrientationPatient=[1, 0, 0, 0, 1, 0], PixelSpacing=[1, 1],
                             AcquisitionNumber=t + 1, InstanceNumber=4 * t + z), f"gap/{random.integers(1 << 30):09d}")
    expected = a.copy()
    expected[1, 2] = 0
    for t in range(3):
        said = subprocess.run([tessera, "convert", "gap", "--frame", str(t), "-o", "x.npy", "--force"], capture_output=True, text=True, check=True)
        assert "1 of 12 pictures are missing, the first that of slice 2 in frame 1" in said.stderr, said.stderr
        require_same(numpy.load("x.npy"), expected[t])
    save(dataset(a[0, 0], PixelSpacing=[0, 0], ImagePositionPatient=[0, 0, 0], ImageOrientationPatient=[1, 0, 0, 0, 1, 0]), "flat.dcm")
    said = subprocess.run([tessera, "info", "flat.dcm"], capture_output=True, text=True, check=True)
    assert "the distance of pixels is said to be 0 or less" in said.stdout + said.stderr, said


def several(_):
    positions = [(0, 0, 2.0 * k) for k in range(4)]
    first = series("two", positions, uid_of="1.1", names="a", SeriesNumber=1, SeriesDescription="Head")
    second = series("two/deeper", [(0, 0, 3.0 * k) for k in range(5)], uid_of="1.2", names="b", SeriesNumber=2, SeriesDescription="Neck", seed=1)
    text = subprocess.run([tessera, "info", "two"], capture_output=True, text=True, check=False)
    assert "'Head'" in text.stdout + text.stderr and "'Neck'" in text.stdout + text.stderr, (text.stdout, text.stderr)
    run("convert", "two", "-o", "x.npy", "--force", fails="holds 2 DICOM series")
    require_same(volume("two", "--series", "0"), first)
    require_same(volume("two", "--series", "1"), second)
    run("convert", "two", "--series", "2", "-o", "x.npy", "--force", fails="expected 0 to 1")
    # localisers of three orientations lie beside the one stack
    stack = series("local", positions, uid_of="1.5", names="s", SeriesNumber=5)
    for k, orientation in enumerate(((1, 0, 0, 0, 1, 0), (0, 1, 0, 0, 0, -1), (1, 0, 0, 0, 0, -1))):
        series("local", [(0, 0, 0)], orientation, uid_of="1.4", names=f"l{k}", SeriesNumber=4, seed=k)
    said = subprocess.run([tessera, "convert", "local", "-o", "x.npy", "--force"], capture_output=True, text=True, check=True)
    assert "the only one of several pictures (--series chooses another)" in said.stderr, said.stderr
    require_same(numpy.load("x.npy"), stack)
    # what is no DICOM is passed over
    with open("local/notes.txt", "w") as file:
        file.write("nothing\n")
    require_same(volume("local"), stack)
    run("info", "local", "--level", "1", fails="--level is 1, expected 0: the file is no pyramid")
    # PET: a scaling of its own in every slice
    raw = series("pet", positions, RescaleSlope=lambda k: 0.5 + k, RescaleIntercept=0, Modality="PT", seed=4)
    expected = (raw * (0.5 + numpy.arange(4))[:, None, None]).astype("f4")
    require_same(volume("pet"), expected)


def enhanced(random):
    """Frames with functional groups, in any order; two times."""
    a = random.integers(-500, 500, (2, 5, 6, 4)).astype("i2")
    order = random.permutation(10)
    d = dataset(numpy.stack([a[k // 5, k % 5] for k in order]), "1.7", NumberOfFrames=10)
    shared = Dataset()
    measures, turn = Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [0.4, 0.6], 1.5
    turn.ImageOrientationPatient = [0, 1, 0, 0, 0, -1]
    shared.PixelMeasuresSequence, shared.PlaneOrientationSequence = Sequence([measures]), Sequence([turn])
    own = []
    for k in order:
        item, place, content, values = Dataset(), Dataset(), Dataset(), Dataset()
        place.ImagePositionPatient = [-1.5 * int(k % 5), 10, 20]
        content.TemporalPositionIndex = int(k // 5) + 1
        values.RescaleSlope, values.RescaleIntercept, values.RescaleType = 2, -7, "US"
        item.PlanePositionSequence, item.FrameContentSequence, item.PixelValueTransformationSequence = Sequence([place]), Sequence([content]), Sequence([values])
        own.append(item)
    d.SharedFunctionalGroupsSequence, d.PerFrameFunctionalGroupsSequence = Sequence([shared]), Sequence(own)
    for syntax in (ExplicitVRLittleEndian, ImplicitVRLittleEndian, DeflatedExplicitVRLittleEndian):
        d.file_meta.TransferSyntaxUID = syntax
        save(d, "e.dcm")
        for t in (0, 1):
            require_same(volume("e.dcm", "--frame", str(t)), 2 * a[t] - 7, syntax, t)
        if nibabel is not None:
            expected = numpy.array([[0, 0, 1.5, 0], [-0.6, 0, 0, -10], [0, -0.4, 0, 20], [0, 0, 0, 1]])
            assert numpy.abs(affine("e.dcm", "--frame", "0") - expected).max() < 1e-5, affine("e.dcm", "--frame", "0")


def damage(random):
    save(dataset(random.integers(0, 99, (5, 7)).astype("u2")), "whole.dcm")
    with open("whole.dcm", "rb") as file:
        whole = file.read()
    for cut in range(132, len(whole), 37):
        with open("cut.dcm", "wb") as file:
            file.write(whole[:cut])
        result = subprocess.run([tessera, "info", "cut.dcm"], capture_output=True, text=True, check=False)
        assert result.returncode == 1 and result.stderr.startswith("tessera info: cut.dcm: ") and result.stderr.count("\n") == 1, (cut, result)
    # one damaged file of a folder: the others are read, and it is named; nothing but damaged ones: an error
    voxels = series("mixed", [(0, 0, 2.0 * k) for k in range(4)])
    with open("mixed/stub.dcm", "wb") as file:
        file.write(whole[:-10])
    result = subprocess.run([tessera, "convert", "mixed", "-o", "mixed.npy"], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "1 of 5 DICOM files cannot be read" in result.stderr and "stub.dcm" in result.stderr, result
    assert numpy.array_equal(numpy.load("mixed.npy"), voxels)
    os.makedirs("stubs", exist_ok=True)
    os.replace("mixed/stub.dcm", "stubs/stub.dcm")
    result = subprocess.run([tessera, "info", "stubs"], capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "stub.dcm: " in result.stderr, result


def body(random):
    types(random)
    few_bits(random)
    codecs(random)
    public_files(random)
    places(random)
    beside_dcm2niix(random)
    uneven(random)
    several(random)
    enhanced(random)
    damage(random)


main(body)
