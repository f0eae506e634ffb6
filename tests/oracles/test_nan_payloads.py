"""Which NaN a result has (docs/maths.md): results have the same bytes for any bands, and those of --reference
except for the sign and payload of NaN of the stages that docs/maths.md names."""

import numpy as np
import pytest

PROPAGATED = [
    "gaussian:sigma=1.5",
    "binomial:radius=2",
    "sobel:axis=x",
    "gradient",
    "gaussian_laplace:sigma=1",
    "dog:sigma=1,sigma2=2",
    "unsharp:sigma=1",
    "median:radius=2",
    "rank:rank=3,radius=4",
    "scale:factor=2,offset=1",
    "clamp:low=-1,high=1",
    "reduce:factor=2",
    "resize:scale=1.7,filter=lanczos3",
    "add:chain=gaussian:sigma=1",
    "transpose",
]
OTHERS = [
    "box:radius=2",
    "stddev:radius=2",
    "local_normalize:radius=2",
    "erode:radius=2",
    "dilate:radius=3,shape=disk",
    "opening:radius=2",
    "closing:radius=2",
    "tophat:radius=2",
    "blackhat:radius=2",
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stage", PROPAGATED + OTHERS)
def test_payloads_of_nan(sepconv, stage, dtype):
    random = np.random.default_rng(1)
    array = random.standard_normal((60, 80)).astype(dtype)
    bits = array.view(np.uint32 if dtype == np.float32 else np.uint64)
    places = random.integers(0, bits.size, 40)
    quiet = np.array(np.nan, dtype).view(bits.dtype)
    bits.reshape(-1)[places] = quiet | random.integers(1, 1 << 20, 40, dtype=bits.dtype)
    np.save(sepconv.folder / "in.npy", array)
    results = []
    for options in (["--device", "cpu"], ["--device", "cpu", "--band-rows", "7"], ["--reference"]):
        sepconv("run", "in.npy", "out.npy", stage, *options, "--force", "--quiet")
        results.append(np.load(sepconv.folder / "out.npy"))
    whole, bands, reference = (result.view(bits.dtype) for result in results)
    assert np.isnan(results[0]).any() and np.array_equal(whole, bands)
    if stage in PROPAGATED:
        assert np.array_equal(whole, reference)
    else:
        assert np.array_equal(*(np.where(np.isnan(result), 0, result) for result in (results[0], results[2])))
        assert np.array_equal(np.isnan(results[0]), np.isnan(results[2]))
