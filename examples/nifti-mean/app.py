"""A BIDS app: app.py INPUT OUTPUT participant|group. Standard library only.

The participant level takes a person's T1w image as intensities relative to its own mean. The group level
writes the mean of all these volumes to OUTPUT/derivatives/group/mean.nii.gz. That would be 512 numbers: the
platform takes the mean over each label of `tissue.nii.gz` and releases three.
"""

import gzip
import json
import math
import struct
import sys
from array import array
from pathlib import Path
from statistics import fmean

HEADER = 352
KINDS = {2: "B", 4: "h", 8: "i", 16: "f", 64: "d"}  # of voxels, as NIfTI and as `array` names them


def main() -> None:
    source, target, level = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if level == "participant":
        for image in sorted(source.glob("sub-*/anat/*_T1w.nii.gz")):
            write_relative(image, target / image.parts[-3] / "relative.nii.gz")
    else:
        write_mean(sorted(target.glob("sub-*/relative.nii.gz")), target / "derivatives" / "group")


def write_relative(image: Path, written: Path) -> None:
    """Intensity over the image's own mean: scanners differ in what they call 1,000."""
    header, voxels = read(image)
    mean = fmean(voxels)
    written.parent.mkdir(parents=True, exist_ok=True)
    write(written, header, [voxel / mean for voxel in voxels])


def write_mean(images: list[Path], folder: Path) -> None:
    headers, volumes = zip(*(read(image) for image in images), strict=True)
    folder.mkdir(parents=True)
    write(folder / "mean.nii.gz", headers[0], [fmean(voxel) for voxel in zip(*volumes, strict=True)])
    description = {"Name": "nifti-mean", "BIDSVersion": "1.10.0", "DatasetType": "derivative"}
    (folder.parent / "dataset_description.json").write_text(json.dumps(description), encoding="utf-8")


def read(image: Path) -> tuple[bytes, array]:
    """Header and voxels of a little-endian NIfTI-1 file, the first axis fastest."""
    content = gzip.decompress(image.read_bytes())
    sides = struct.unpack_from("<8h", content, 40)
    (kind,) = struct.unpack_from("<h", content, 70)
    (start,) = struct.unpack_from("<f", content, 108)
    voxels = array(KINDS[kind])
    size = math.prod(sides[1 : sides[0] + 1]) * voxels.itemsize
    voxels.frombytes(content[int(start) : int(start) + size])
    return content[:HEADER], voxels


def write(image: Path, header: bytes, voxels: list[float]) -> None:
    """The same header, but for voxels of four bytes."""
    changed = bytearray(header)
    struct.pack_into("<2h", changed, 70, 16, 32)
    struct.pack_into("<3f", changed, 108, HEADER, 1, 0)
    image.write_bytes(gzip.compress(bytes(changed) + array("f", voxels).tobytes(), mtime=0))


if __name__ == "__main__":
    main()
