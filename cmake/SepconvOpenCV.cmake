# opencv_peer, where OpenCV is: an oracle, a peer and what the adaptor for OpenCV is tested with; never part of the library. Looked up
# piecewise: its CMake package would ask for every module.
find_path(OPENCV_INCLUDE_DIR opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(OPENCV_CORE_LIBRARY opencv_core)
find_library(OPENCV_IMGPROC_LIBRARY opencv_imgproc)
if(OPENCV_INCLUDE_DIR AND OPENCV_CORE_LIBRARY AND OPENCV_IMGPROC_LIBRARY)
  add_library(opencv_peer INTERFACE)
  target_include_directories(opencv_peer SYSTEM INTERFACE ${OPENCV_INCLUDE_DIR})
  target_link_libraries(opencv_peer INTERFACE ${OPENCV_IMGPROC_LIBRARY} ${OPENCV_CORE_LIBRARY})
endif()
