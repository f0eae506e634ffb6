"""GDAL's separable filter: a virtual dataset whose bands are KernelFilteredSources."""


def filter_vrt(source, cols, rows, channels, form, taps, relative=False):
    """The XML of the virtual dataset. GDAL filters separably if the number of coefficients equals the
    kernel's size, and replicates the edge. `form` is GDAL's name of the type. With `relative`, `source` is a
    file in the folder of the VRT."""
    kernel = f'<Kernel normalized="0"><Size>{len(taps)}</Size><Coefs>{" ".join(repr(float(tap)) for tap in taps)}</Coefs></Kernel>'
    name = f'<SourceFilename relativeToVRT="{int(relative)}">{source}</SourceFilename>'
    bands = "".join(
        f'<VRTRasterBand dataType="{form}" band="{band}"><KernelFilteredSource>{name}<SourceBand>{band}</SourceBand>{kernel}'
        "</KernelFilteredSource></VRTRasterBand>"
        for band in range(1, channels + 1)
    )
    return f'<VRTDataset rasterXSize="{cols}" rasterYSize="{rows}">{bands}</VRTDataset>'
