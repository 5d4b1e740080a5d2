/* The registers through Linux UIO (/dev/uioN, or any file that maps them at its beginning). */
#ifndef KINEGATE_UIO_H
#define KINEGATE_UIO_H

#include "kinegate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kg_uio {
    int file;
    void *registers;
};

/* KG_SYSTEM, with errno, where the file cannot be opened or mapped. */
enum kg_error kg_uio_open(struct kg_uio *uio, const char *path);
struct kg_bus kg_uio_bus(const struct kg_uio *uio);
void kg_uio_close(struct kg_uio *uio);

/* Lets the interrupt through once and waits for it; KG_TIMEOUT after so many milliseconds (-1:
 * never). Clear the events before the next call. */
enum kg_error kg_uio_wait(const struct kg_uio *uio, int milliseconds);

#ifdef __cplusplus
}
#endif

#endif
