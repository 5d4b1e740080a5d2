/* Runs generated code outside Python: rows of columns from standard input, results to standard
 * output, all int64. Compiled with -DHEADER="..." -DRUN=NAME_many -DINPUTS=n -DOUTPUTS=m. */
#include HEADER
#include <stdio.h>
#include <stdlib.h>

static int64_t *column(size_t rows)
{
    int64_t *made = malloc(rows * sizeof *made);
    if (!made)
        exit(2);
    return made;
}

int main(int count, char **words)
{
    const int64_t *in[INPUTS];
    int64_t *out[OUTPUTS];
    const size_t rows = count > 1 ? (size_t)atol(words[1]) : 0;
    size_t i;
    for (i = 0; i < INPUTS; i++) {
        int64_t *made = column(rows);
        if (fread(made, sizeof *made, rows, stdin) != rows)
            return 2;
        in[i] = made;
    }
    for (i = 0; i < OUTPUTS; i++)
        out[i] = column(rows);
    RUN(rows, in, out);
    for (i = 0; i < OUTPUTS; i++)
        if (fwrite(out[i], sizeof *out[i], rows, stdout) != rows)
            return 2;
    return 0;
}
