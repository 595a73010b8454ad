/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of a direct translation, built for each kind of machine:
 *
 *   data_peer send           writes descriptor and records to standard output
 *   data_peer take           reads them and says what it made of them
 *   data_peer hear PORT      says "ready", takes one datagram that was broadcast on loopback
 *   data_peer cast PORT      broadcasts the same to all who hear
 *
 * "take" and "hear" end with one line: the own order, the sender's, numbers converted, "right" or "wrong".
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vaiven/data.h"

#define RECORDS 20

struct record {
  double at[3];
  int64_t serial;
  int32_t id;
  char name[5];
  uint16_t port;
  int8_t small;
  float weight[3];
  float phase[2]; /* complex */
  double wave[2]; /* complex */
};

static const struct vv_data_field fields[] = {
    {VV_DATA_DOUBLE, 3, offsetof(struct record, at)},
    {VV_DATA_INT64, 1, offsetof(struct record, serial)},
    {VV_DATA_INT32, 1, offsetof(struct record, id)},
    {VV_DATA_CHAR, 5, offsetof(struct record, name)},
    {VV_DATA_UINT16, 1, offsetof(struct record, port)},
    {VV_DATA_INT8, 1, offsetof(struct record, small)},
    {VV_DATA_FLOAT, 3, offsetof(struct record, weight)},
    {VV_DATA_COMPLEX_FLOAT, 1, offsetof(struct record, phase)},
    {VV_DATA_COMPLEX_DOUBLE, 1, offsetof(struct record, wave)},
};
static const struct vv_data_layout layout = {sizeof(struct record), sizeof fields / sizeof fields[0], fields};

static const char *order_name(enum vv_data_order order) {
  return order == VV_DATA_BIG_ENDIAN ? "big" : "little";
}

static void put64(void *at, uint64_t bits) {
  memcpy(at, &bits, sizeof bits);
}

static void put32(void *at, uint32_t bits) {
  memcpy(at, &bits, sizeof bits);
}

/* The same values on every machine, given as bits where a compiler might change them. */
static void fill(struct record records[RECORDS]) {
  memset(records, 0, RECORDS * sizeof *records);
  for (int i = 0; i < RECORDS; i++) {
    struct record *record = &records[i];
    put64(&record->at[0], 0x7ff0000000000001 + (uint64_t)i); /* signalling NaN with a payload */
    put64(&record->at[1], 0x8000000000000000);               /* -0 */
    put64(&record->at[2], 0x7ff0000000000000);               /* infinity */
    record->serial = INT64_MIN + i;
    record->id = -i;
    memcpy(record->name, "abcde", 5);
    record->port = (uint16_t)(60000 + i);
    record->small = (int8_t)-i;
    put32(&record->weight[0], 0xffc00001 + (uint32_t)i); /* negative quiet NaN with a payload */
    put32(&record->weight[1], 0xff800000);               /* -infinity */
    put32(&record->weight[2], 0x00000001);               /* the smallest subnormal */
    record->phase[0] = 0.25F * (float)i;
    put32(&record->phase[1], 0x80000000);
    record->wave[0] = -1.0 / 3;
    put64(&record->wave[1], 0x7ff800000000beef);
  }
}

static size_t message(uint8_t *bytes) {
  struct record records[RECORDS];
  fill(records);
  const size_t size = vv_data_describe(&layout, RECORDS, bytes);
  memcpy(bytes + size, records, sizeof records);
  return size + sizeof records;
}

static int judge(const uint8_t *bytes, size_t size) {
  const size_t descriptor_bytes = VV_DATA_HEADER_BYTES + layout.field_count * (size_t)VV_DATA_FIELD_BYTES;
  struct vv_data_description description;
  struct record want[RECORDS], got[RECORDS];
  uint64_t converted;
  fill(want);
  memset(got, 0, sizeof got);
  if (size < descriptor_bytes || vv_data_parse(bytes, descriptor_bytes, &description) != VV_DATA_OK ||
      vv_data_take(&description, bytes + descriptor_bytes, size - descriptor_bytes, &layout, got, sizeof got,
                   &converted) != VV_DATA_OK) {
    return puts("refused"), 1;
  }
  const bool right = memcmp(want, got, sizeof got) == 0;
  printf("%s %s %llu %s\n", order_name(vv_data_own_order()), order_name(description.order),
         (unsigned long long)converted, right ? "right" : "wrong");
  return right ? 0 : 1;
}

static struct sockaddr_in everybody(const char *port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr = {htonl(0x7fffffff)}};
}

static int hear(const char *port) {
  uint8_t bytes[65536];
  const struct sockaddr_in own = everybody(port);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, (const struct sockaddr *)&own, sizeof own) != 0) {
    return perror("hear"), 1;
  }
  puts("ready");
  fflush(stdout);
  const ssize_t size = recv(fd, bytes, sizeof bytes, 0);
  close(fd);
  return size < 0 ? 1 : judge(bytes, (size_t)size);
}

static int cast(const char *port) {
  uint8_t bytes[65536];
  const struct sockaddr_in to = everybody(port);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
  const size_t size = message(bytes);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) != 0 ||
      sendto(fd, bytes, size, 0, (const struct sockaddr *)&to, sizeof to) != (ssize_t)size) {
    return perror("cast"), 1;
  }
  return close(fd);
}

int main(int argc, char **argv) {
  static uint8_t bytes[65536];
  if (argc == 2 && strcmp(argv[1], "send") == 0) {
    const size_t size = message(bytes);
    return fwrite(bytes, 1, size, stdout) == size ? 0 : 1;
  }
  if (argc == 2 && strcmp(argv[1], "take") == 0) return judge(bytes, fread(bytes, 1, sizeof bytes, stdin));
  if (argc == 3 && strcmp(argv[1], "hear") == 0) return hear(argv[2]);
  if (argc == 3 && strcmp(argv[1], "cast") == 0) return cast(argv[2]);
  return 2;
}
