"""An allocation failure is a MemoryError with a message, for pixels as well as for threads."""

import subprocess
import sys

import pytest

SCRIPT = """
import resource, numpy as np, numpy.ma, sepconv as sc
from sepconv import ndimage
large, stack = np.ones((3000, 3000), "f4"), np.ones((40, 300, 300), "f4")
out, many = np.empty_like(large), np.empty_like(stack)
np.save("in.npy", large[:300])
with open("/proc/self/statm") as sizes:
    held = int(sizes.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (1 << 20),) * 2)
try:
    CALL
except MemoryError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "call, words",
    [
        ("sc.gaussian(2)(large, out)", "a thread could not be started"),
        ("sc.gaussian(2)(stack, many, axes='zyx', threads=4)", "a thread could not be started"),
        ("sc.run('in.npy', 'out.npy', progress=False)", "a thread could not be started"),
        ("sc.stats('in.npy', progress=False)", "a thread could not be started"),
        ("sc.gaussian(1e5, radius=1 << 20)", "cannot allocate memory"),
        ("ndimage.gaussian_filter(large, 2)", "Unable to allocate"),
    ],
)
def test_memory_that_cannot_be_had(tmp_path, call, words):
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("CALL", call)], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.stdout.startswith(words) and process.stdout.count("\n") == 1, (
        process.stdout + process.stderr
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npy"]
