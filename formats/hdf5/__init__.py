"""A reader and a writer of the part of HDF5 that MATLAB's v7.3 files use, without any native code.

Reads hostile bytes: every address, length and count is checked, and the work of one file is bounded whatever
its parts say of each other. What is outside that part (links out of the file, other filters, newer indexes of
chunks, compound types) is refused by name.
"""

from formats.hdf5.node import SIGNATURE, Dataset, Group, open_file
from formats.hdf5.writer import Attributes, Writer

__all__ = ["SIGNATURE", "Attributes", "Dataset", "Group", "Writer", "open_file"]
