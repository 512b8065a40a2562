"""Give a folder's memory back, whatever a run has made of it."""

import os
import stat

from .trees import step


def empty(root):
    """A tree may be thousands deep, so it is flattened, not walked: what a folder holds of folders is moved
    up to the root, where its turn comes. Nobody else is alive in it.
    """
    os.fchmod(root, 0o700)
    moved = 0
    while names := os.listdir(root):
        for name in names:
            if not stat.S_ISDIR(os.lstat(name, dir_fd=root).st_mode):
                os.unlink(name, dir_fd=root)
                continue
            os.chmod(name, 0o700, dir_fd=root)  # the run may have locked itself out
            here = step(os.dup(root), name)
            for inner in os.listdir(here):
                if stat.S_ISDIR(os.lstat(inner, dir_fd=here).st_mode):
                    os.chmod(inner, 0o700, dir_fd=here)  # moving a folder writes its '..'
                    # a name that no run can have guessed
                    os.rename(inner, f"{os.urandom(16).hex()}-{moved}", src_dir_fd=here, dst_dir_fd=root)
                    moved += 1
                else:
                    os.unlink(inner, dir_fd=here)
            os.close(here)
            os.rmdir(name, dir_fd=root)
