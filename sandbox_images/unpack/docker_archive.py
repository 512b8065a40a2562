"""What `docker save`, `podman save` and `skopeo copy docker-archive:` write: manifest.json and its files."""

import re

from .archive import Archive, check_content, digest_of, expect, parse
from .plan import Plan, plan
from .refusal import Refused

MANIFEST = "manifest.json"
_DIGEST_IN_NAME = re.compile(r"(?:^|[/:])([0-9a-f]{64})(?:\.json)?$")
_LAYER_DIGEST_IN_NAME = re.compile(r"^blobs/sha256/([0-9a-f]{64})$")


def read_docker_archive(archive: Archive, machine: str) -> Plan:
    images = expect(parse(archive.read(MANIFEST), MANIFEST), list, MANIFEST)
    if len(images) != 1:
        raise Refused(f"the archive holds {len(images)} images: save one image into an archive of its own")
    image = expect(images[0], dict, MANIFEST)
    where = expect(image.get("Config"), str, "name of the image's configuration")
    config = archive.read(where)
    digest = _config_digest(where, config)
    names = [
        expect(name, str, "list of layers") for name in expect(image.get("Layers"), list, "list of layers")
    ]
    tags = image.get("RepoTags")
    name = tags[0] if isinstance(tags, list) and tags and isinstance(tags[0], str) else None
    stored = [(layer, _layer_digest(layer)) for layer in names]
    return plan(archive, config, digest, stored, name=name, machine=machine)


def _config_digest(where: str, config: bytes) -> str:
    """All tools name the file after its digest; if some does not, its content is all there is to go by."""
    found = _DIGEST_IN_NAME.search(where)
    if found is None:
        return digest_of(config)
    digest = f"sha256:{found[1]}"
    check_content(config, digest, "image's configuration")
    return digest


def _layer_digest(name: str) -> str | None:
    """Elsewhere a hexadecimal name is an identifier of its own and not a digest."""
    found = _LAYER_DIGEST_IN_NAME.match(name)
    return f"sha256:{found[1]}" if found else None
