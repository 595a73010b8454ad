/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives every file of a corpus directory to a fuzz target, with any compiler: replay DIRECTORY. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *directory, const char *name) {
  static uint8_t data[1 << 20];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "rb");
  if (!file) return -1;
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  return 0;
}

int main(int argc, char **argv) {
  DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
  int count = 0;
  if (!directory) return EXIT_FAILURE;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_name[0] == '.') continue;
    if (replay(argv[1], entry->d_name) != 0) return EXIT_FAILURE;
    count++;
  }
  closedir(directory);
  printf("%d inputs\n", count);
  return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
