"""GDAL's separable filter: a virtual dataset whose bands are KernelFilteredSources."""


def filter_vrt(source, cols, rows, channels, form, taps, relative=False):
    """Its XML. As many coefficients as the kernel's size make it separable, and it repeats the edge. `form`
    is GDAL's word for the type; `relative`: `source` is a file beside the one that this is written to."""
    kernel = f'<Kernel normalized="0"><Size>{len(taps)}</Size><Coefs>{" ".join(repr(float(tap)) for tap in taps)}</Coefs></Kernel>'
    name = f'<SourceFilename relativeToVRT="{int(relative)}">{source}</SourceFilename>'
    bands = "".join(
        f'<VRTRasterBand dataType="{form}" band="{band}"><KernelFilteredSource>{name}<SourceBand>{band}</SourceBand>{kernel}'
        "</KernelFilteredSource></VRTRasterBand>"
        for band in range(1, channels + 1)
    )
    return f'<VRTDataset rasterXSize="{cols}" rasterYSize="{rows}">{bands}</VRTDataset>'
