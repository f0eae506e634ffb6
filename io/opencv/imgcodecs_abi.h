/* What the module sepconv_imgcodecs.so offers: plain C, so that neither OpenCV nor a C++ runtime's types
 * cross the border. */
#ifndef SEPCONV_IMGCODECS_ABI_H
#define SEPCONV_IMGCODECS_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever anything below does; a module of another version is refused. */
#define SEPCONV_IMGCODECS_ABI 2

/* rows x cols pixels, interleaved channels in the order B, G, R, A; native byte order. */
typedef struct {
  void* data;
  int64_t rows, cols, channels;
  int64_t pitch_bytes;
  int32_t element_bytes; /* 1: unsigned 8 bits, 2: unsigned 16 bits */
} sepconv_image;

/* Receives an encoded file, once. Returns 0, or anything else to have the encoding end with an error. */
typedef int (*sepconv_sink)(void* context, const void* bytes, int64_t size);

typedef struct {
  uint32_t abi_version;
  /* Decodes the file into memory of the module's own, described in `image`; returns its handle, or null and a
   * sentence in `error`. */
  void* (*decode)(const char* path, sepconv_image* image, char* error, int64_t error_bytes);
  /* Gives back what decode returned. */
  void (*release)(void* handle);
  /* Encodes to BMP. Returns 0, or not and a sentence in `error`. */
  int (*encode)(const sepconv_image* image, sepconv_sink sink, void* context, char* error,
                int64_t error_bytes);
} sepconv_imgcodecs;

/* The module's one symbol. */
#define SEPCONV_IMGCODECS_SYMBOL "sepconv_imgcodecs_module"
typedef const sepconv_imgcodecs* (*sepconv_imgcodecs_getter)(void);

#ifdef __cplusplus
}
#endif
#endif
