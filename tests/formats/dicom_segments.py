"""DICOM segmentations beside highdicom and pydicom: segments of bits and of fractions that they write are the labels that tessera reads, with their names; labels
that tessera writes are what they read.

    dicom_segments.py TESSERA      exit code 77: no numpy, pydicom or highdicom
"""
import os
import subprocess

from peers import info, main, numpy, require_same, run, skip, tessera, volume

try:
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, generate_uid
except ImportError:
    skip("pydicom")
try:
    import highdicom
    from highdicom.sr.coding import CodedConcept
except ImportError:
    skip("highdicom")
try:
    import nibabel
except ImportError:
    skip("nibabel")

TISSUE = CodedConcept("85756007", "SCT", "Tissue")
ROWS, COLUMNS, SLICES = 20, 28, 9


def series(folder, random, turned=True):
    """A CT of oblique slices as pydicom writes it; the data sets, lowest first."""
    os.makedirs(folder)
    row = numpy.array([0.8, 0.6, 0.0]) if turned else numpy.array([1.0, 0, 0])
    column = numpy.array([0.0, 0.0, -1.0]) if turned else numpy.array([0, 1.0, 0])
    normal = numpy.cross(row, column)
    made, study, whole, frame = [], generate_uid(), generate_uid(), generate_uid()
    for k in range(SLICES):
        d = Dataset()
        d.file_meta = FileMetaDataset()
        d.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        d.file_meta.MediaStorageSOPClassUID = d.SOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
        d.file_meta.MediaStorageSOPInstanceUID = d.SOPInstanceUID = generate_uid()
        d.StudyInstanceUID, d.SeriesInstanceUID, d.FrameOfReferenceUID = study, whole, frame
        d.PatientName, d.PatientID, d.PatientBirthDate, d.PatientSex = "Doe^Jane", "17", "19700101", "F"
        d.StudyDate, d.StudyTime, d.AccessionNumber, d.ReferringPhysicianName, d.StudyID = "20200102", "030405", "A1", "", "7"
        d.Modality, d.SeriesNumber, d.InstanceNumber, d.PositionReferenceIndicator = "CT", 3, k + 1, ""
        d.ImagePositionPatient = [float(round(v, 6)) for v in numpy.array([-20, 33.5, 12.25]) + 2.5 * k * normal]
        d.ImageOrientationPatient = [*row, *column]
        d.PixelSpacing, d.SliceThickness = [0.75, 0.5], 2.5
        d.Rows, d.Columns, d.SamplesPerPixel, d.PhotometricInterpretation = ROWS, COLUMNS, 1, "MONOCHROME2"
        d.BitsAllocated, d.BitsStored, d.HighBit, d.PixelRepresentation = 16, 16, 15, 0
        d.RescaleSlope, d.RescaleIntercept = 1, -1024
        d.PixelData = random.integers(0, 2000, (ROWS, COLUMNS)).astype("<u2").tobytes()
        d.save_as(f"{folder}/{k:03}.dcm", enforce_file_format=True)
        made.append(d)
    return made


def describe(number, name):
    return highdicom.seg.SegmentDescription(
        segment_number=number, segment_label=name, segmented_property_category=CodedConcept("91723000", "SCT", "Anatomical Structure"),
        segmented_property_type=TISSUE, algorithm_type=highdicom.seg.SegmentAlgorithmTypeValues.MANUAL)


def theirs(source, masks, kind, names, path, **more):
    """A segmentation as highdicom writes it; masks [slice][row][column] of numbers or [slice][row][column][segment]."""
    made = highdicom.seg.Segmentation(
        source_images=source, pixel_array=masks, segmentation_type=kind, segment_descriptions=[describe(k + 1, n) for k, n in enumerate(names)],
        series_instance_uid=generate_uid(), series_number=8, sop_instance_uid=generate_uid(), instance_number=1, manufacturer="x",
        manufacturer_model_name="x", software_versions="1", device_serial_number="1", **more)
    made.save_as(path)
    return made


def names_of(meta):
    found = {}
    for k in range(100):
        if f"Segment{k}_LabelValue" in meta:
            found[int(meta[f"Segment{k}_LabelValue"])] = meta[f"Segment{k}_Name"]
    return found


def read(random):
    source = series("ct", random)
    grid = info("ct")["affine"]
    labels = random.integers(0, 4, (SLICES, ROWS, COLUMNS)).astype("u1")
    labels[0], labels[4], labels[-1] = 0, 0, 0  # slices without a segment are not in the file
    labels[-2, 0, 0] = 2
    names = ["left kidney", "right kidney", "Größe"]
    theirs(source, labels, highdicom.seg.SegmentationTypeValues.BINARY, names, "bits.dcm", omit_empty_frames=True)
    about = info("bits.dcm")
    got = volume("bits.dcm")
    filled = [k for k in range(SLICES) if labels[k].any()]
    require_same(got, labels[filled[0]:filled[-1] + 1], "labels")
    assert about["size"] == [COLUMNS, ROWS, filled[-1] - filled[0] + 1] and about["dtype"] == "u8"
    place = numpy.array(about["affine"])
    expected = numpy.array(grid)
    expected[:, 3] += filled[0] * expected[:, 2]
    assert numpy.abs(place - expected).max() < 1e-4, (place, expected)
    assert names_of(about["meta"]) == {1: "left kidney", 2: "right kidney", 3: "Größe"}, about["meta"]
    assert [e["name"] for e in about["contents"]] == ["0", "1", "2"] and "left kidney" in about["contents"][0]["type"]
    for k in range(3):  # one segment alone
        alone = volume("bits.dcm", "--series", str(k))
        used = [z for z in range(SLICES) if (labels[z] == k + 1).any()]
        assert len(used) < used[-1] + 1 - used[0], used  # with a gap
        require_same(alone, (labels[used[0]:used[-1] + 1] == k + 1).astype("u1"), k)
        about = info("bits.dcm", "--series", str(k))
        assert about["size"] == [COLUMNS, ROWS, len(alone)] and about["contents"][k]["size"] == [len(alone), ROWS, COLUMNS], about
        expected = numpy.array(grid)
        expected[:, 3] += used[0] * expected[:, 2]
        assert numpy.abs(numpy.array(about["affine"]) - expected).max() < 1e-4, (about["affine"], expected)
        require_same(volume("bits.dcm", "--series", str(k), "--box", f"0,0,{4 - used[0]}:28,20,{6 - used[0]}"), (labels[4:6] == k + 1).astype("u1"), "box in a gap")
    require_same(volume("bits.dcm", "--box", "3,2,1:20,18,4"), labels[filled[0] + 1:filled[0] + 4, 2:18, 3:20], "box")
    # a slice of every label, in the words of the label verbs
    said = run("info", "bits.dcm", "--labels")
    assert "left kidney" in said, said
    # overlapping segments: the greatest number, and it is said
    masks = random.integers(0, 2, (SLICES, ROWS, COLUMNS, 2)).astype("u1")
    theirs(source, masks, highdicom.seg.SegmentationTypeValues.BINARY, names[:2], "both.dcm", omit_empty_frames=False)
    require_same(volume("both.dcm"), numpy.maximum(masks[..., 0], 2 * masks[..., 1]), "overlap")
    done = subprocess.run([tessera, "info", "both.dcm"], capture_output=True, text=True, check=True)
    assert f"segments overlap in {int((masks.sum(-1) == 2).sum())} voxels" in done.stderr, done.stderr
    # fractions: half and more is inside; one alone keeps its numbers
    part = random.random((SLICES, ROWS, COLUMNS, 1)).astype("f4")
    theirs(source, part, highdicom.seg.SegmentationTypeValues.FRACTIONAL, names[:1], "part.dcm", max_fractional_value=200, omit_empty_frames=False)
    stored = numpy.around(part[..., 0] * 200).astype("u1")
    require_same(volume("part.dcm"), (stored >= 100).astype("u1"), "fractions")
    require_same(volume("part.dcm", "--series", "0"), stored, "one fraction")
    if hasattr(highdicom.seg.SegmentationTypeValues, "LABELMAP"):
        theirs(source, labels, highdicom.seg.SegmentationTypeValues.LABELMAP, names, "map.dcm", omit_empty_frames=False)
        require_same(volume("map.dcm"), labels, "label map")
        assert names_of(info("map.dcm")["meta"])[2] == "right kidney"


def write(random):
    source = series("mr", random)
    labels = random.integers(0, 4, (SLICES, ROWS, COLUMNS)).astype("u1")
    labels[labels == 3] = 7
    labels[2] = 0
    run("convert", "mr", "-o", "grey.nrrd")
    numpy.save("labels.npy", labels)
    affine = numpy.array(info("mr")["affine"])
    ras = numpy.vstack([numpy.diag((-1, -1, 1)) @ affine, (0, 0, 0, 1)])
    nibabel.save(nibabel.Nifti1Image(numpy.ascontiguousarray(labels.transpose(2, 1, 0)), ras), "labels.nii.gz")
    run("convert", "labels.nii.gz", "--like", "mr", "-o", "own.dcm")
    d = pydicom.dcmread("own.dcm")
    assert d.PatientName == "Doe^Jane" and d.StudyInstanceUID == source[0].StudyInstanceUID and d.FrameOfReferenceUID == source[0].FrameOfReferenceUID
    assert d.SOPClassUID == "1.2.840.10008.5.1.4.1.1.66.4" and d.file_meta.MediaStorageSOPInstanceUID == d.SOPInstanceUID
    assert [i.ReferencedSOPInstanceUID for i in d.ReferencedSeriesSequence[0].ReferencedInstanceSequence] == [s.SOPInstanceUID for s in source]
    assert [s.SegmentNumber for s in d.SegmentSequence] == [1, 2, 3] and d.SegmentSequence[2].SegmentDescription == "label 7"
    own = highdicom.seg.segread("own.dcm")
    number = {1: 1, 2: 2, 7: 3}
    # by the picture that each slice was segmented on
    got = own.get_pixels_by_source_instance([s.SOPInstanceUID for s in source], combine_segments=True, ignore_spatial_locations=True,
                                            assert_missing_frames_are_empty=True)
    expected = numpy.vectorize(lambda v: number.get(v, 0))(labels)
    assert numpy.array_equal(got, expected), (got.shape, expected.shape)
    # by its own geometry
    if hasattr(own, "get_volume"):
        v = own.get_volume(combine_segments=True)
        order = v.affine  # index -> LPS
        for z, y, x in random.integers(0, (SLICES, ROWS, COLUMNS), (200, 3)):
            at = affine @ (x, y, z, 1)
            i = numpy.rint(numpy.linalg.solve(order, numpy.append(at, 1)))[:3].astype(int)
            if all(0 <= i[k] < v.array.shape[k] for k in range(3)):
                assert v.array[tuple(i)] == expected[z, y, x]
            else:
                assert expected[z, y, x] == 0
    # and back, with names
    require_same(volume("own.dcm"), expected.astype("u1"), "back")
    theirs(source, (labels == 1).astype("u1"), highdicom.seg.SegmentationTypeValues.BINARY, ["spleen"], "named.dcm", omit_empty_frames=False)
    run("convert", "named.dcm", "--like", "mr", "-o", "again.dcm")
    assert pydicom.dcmread("again.dcm").SegmentSequence[0].SegmentLabel == "spleen"
    # more than one byte of labels; a grid of another kind is brought to that of the series
    wide = random.integers(0, 3, (SLICES, ROWS, COLUMNS)).astype("u2") * 300
    nibabel.save(nibabel.Nifti1Image(numpy.ascontiguousarray(wide.transpose(2, 1, 0)), ras), "wide.nii")
    run("convert", "wide.nii", "--like", "mr", "-o", "wide.dcm")
    require_same(volume("wide.dcm"), (wide // 300).astype("u1"), "wide")
    # what cannot be
    run("convert", "labels.nii.gz", "-o", "no.dcm", fails="expected --like SERIES")
    nibabel.save(nibabel.Nifti1Image(numpy.zeros((COLUMNS, ROWS, SLICES), "u1"), ras), "zero.nii")
    run("convert", "zero.nii", "--like", "mr", "-o", "no.dcm", fails="the volume has no label")
    assert not os.path.exists("no.dcm")


def body(random):
    read(random)
    write(random)
    print("compared with highdicom", highdicom.__version__)


main(body)
