#define _POSIX_C_SOURCE 200809L

#include "kinegate_uio.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

enum kg_error kg_uio_open(struct kg_uio *uio, const char *path)
{
    uio->file = open(path, O_RDWR | O_SYNC);
    if (uio->file < 0)
        return KG_SYSTEM;
    uio->registers = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, uio->file, 0);
    if (uio->registers == MAP_FAILED) {
        close(uio->file);
        return KG_SYSTEM;
    }
    return KG_OK;
}

struct kg_bus kg_uio_bus(const struct kg_uio *uio)
{
    return kg_memory_bus(uio->registers);
}

void kg_uio_close(struct kg_uio *uio)
{
    munmap(uio->registers, PAGE);
    close(uio->file);
}

enum kg_error kg_uio_wait(const struct kg_uio *uio, int milliseconds)
{
    uint32_t once = 1, count;
    struct pollfd waiting = {.fd = uio->file, .events = POLLIN, .revents = 0};
    if (write(uio->file, &once, sizeof once) != (ssize_t)sizeof once)
        return KG_SYSTEM;
    int found = poll(&waiting, 1, milliseconds);
    if (found == 0)
        return KG_TIMEOUT;
    if (found < 0 || read(uio->file, &count, sizeof count) != (ssize_t)sizeof count)
        return KG_SYSTEM;
    return KG_OK;
}
