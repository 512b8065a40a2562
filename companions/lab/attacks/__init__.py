"""Each attack as plain functions over arrays: no figure, no file, no clock."""
