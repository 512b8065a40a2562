"""How much an archive may ask for. Beyond any of these it is refused, whatever it holds."""

import json
from dataclasses import asdict, dataclass

GIB = 1024**3


@dataclass(frozen=True)
class Caps:
    """Ceilings of one import. The defaults let the large images of medical imaging through."""

    archive_bytes: int = 32 * GIB  # the file as given
    total_bytes: int = 64 * GIB  # of all layers, unpacked, with everything that later layers replace
    file_bytes: int = 16 * GIB  # of one file
    layers: int = 128
    entries: int = 2_000_000  # of all layers together
    depth: int = 128  # folders in folders: what walks the tree later keeps a descriptor for each
    path_bytes: int = 4095  # as the kernel has it, with 255 for each part
    text_bytes: int = 4 * 1024 * 1024  # a manifest, a configuration, an extended header

    def as_text(self) -> str:
        """For the command line of the sandboxed unpacker."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_text(text: str) -> "Caps":
        return Caps(**json.loads(text))
