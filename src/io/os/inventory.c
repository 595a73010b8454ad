/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/inventory.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#define FILE_MAX 65536
#define CPUS_MAX 4096

/* files --------------------------------------------------------------- */

/* Reads the file below root named by the format into text, at most room - 1 bytes. Its length; 0: nothing. */
static size_t read_file(const char *root, char *text, size_t room, const char *format, va_list args) {
  char path[PATH_MAX];
  int used = snprintf(path, sizeof path, "%s/", root);
  if (used > 0 && (size_t)used < sizeof path) vsnprintf(path + used, sizeof path - (size_t)used, format, args);
  text[0] = '\0';
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  size_t count = 0;
  for (ssize_t got; count < room - 1 && (got = read(fd, text + count, room - 1 - count)) > 0;) count += (size_t)got;
  close(fd);
  text[count] = '\0';
  return count;
}

__attribute__((format(printf, 4, 5))) static size_t read_all(const char *root, char *text, size_t room,
                                                             const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t count = read_file(root, text, room, format, args);
  va_end(args);
  return count;
}

/* The first line without the space around it. */
__attribute__((format(printf, 4, 5))) static void read_line(const char *root, char *text, size_t room,
                                                            const char *format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  read_file(root, line, sizeof line, format, args);
  va_end(args);
  line[strcspn(line, "\n")] = '\0';
  char *from = line + strspn(line, " \t");
  size_t count = strlen(from);
  while (count > 0 && isspace((unsigned char)from[count - 1])) count--;
  snprintf(text, room, "%.*s", (int)count, from);
}

__attribute__((format(printf, 2, 3))) static int64_t read_number(const char *root, const char *format, ...) {
  char text[64], *end;
  va_list args;
  va_start(args, format);
  read_file(root, text, sizeof text, format, args);
  va_end(args);
  long long number = strtoll(text, &end, 0);
  return end == text ? VV_INVENTORY_UNKNOWN : number;
}

/* The value behind `name` and `separator` at the beginning of a line; "" when there is none. */
static void find_value(const char *text, const char *name, char separator, char *value, size_t room) {
  size_t length = strlen(name);
  value[0] = '\0';
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, name, length) != 0) continue;
    const char *at = line + length + strspn(line + length, " \t");
    if (*at != separator) continue;
    at += 1 + strspn(at + 1, " \t\"");
    snprintf(value, room, "%.*s", (int)strcspn(at, "\"\n"), at);
    return;
  }
}

/* system -------------------------------------------------------------- */

static void read_program(struct vv_inventory *inventory) {
#ifdef __GLIBC__
  snprintf(inventory->libc, sizeof inventory->libc, "glibc %s", gnu_get_libc_version());
#endif
#ifdef __clang__
  snprintf(inventory->compiler, sizeof inventory->compiler, "%s", __VERSION__);
#else
  snprintf(inventory->compiler, sizeof inventory->compiler, "gcc %s", __VERSION__);
#endif
}

static void read_system(const char *root, struct vv_inventory *inventory) {
  char text[4096];
  read_line(root, inventory->hostname, sizeof inventory->hostname, "proc/sys/kernel/hostname");
  read_line(root, inventory->kernel, sizeof inventory->kernel, "proc/sys/kernel/osrelease");
  read_line(root, inventory->kernel_build, sizeof inventory->kernel_build, "proc/sys/kernel/version");
  read_all(root, text, sizeof text, "etc/os-release");
  find_value(text, "PRETTY_NAME", '=', inventory->os, sizeof inventory->os);
  read_line(root, inventory->clock_source, sizeof inventory->clock_source,
            "sys/devices/system/clocksource/clocksource0/current_clocksource");
  read_all(root, text, sizeof text, "proc/loadavg");
  inventory->load_milli = text[0] ? (int64_t)(strtod(text, NULL) * 1000 + 0.5) : VV_INVENTORY_UNKNOWN;
  read_all(root, text, sizeof text, "proc/meminfo");
  char kib[32];
  find_value(text, "MemTotal", ':', kib, sizeof kib);
  inventory->memory_bytes = kib[0] ? strtoll(kib, NULL, 10) * 1024 : VV_INVENTORY_UNKNOWN;
}

static void read_pci_id(const char *root, const char *device, char id[16]) {
  int64_t vendor = read_number(root, "%s/vendor", device);
  int64_t model = read_number(root, "%s/device", device);
  id[0] = '\0';
  if (vendor >= 0 && model >= 0) snprintf(id, 16, "%04x:%04x", (unsigned)vendor & 0xffff, (unsigned)model & 0xffff);
}

static void read_board(const char *root, struct vv_inventory *inventory) {
  read_line(root, inventory->board_vendor, sizeof inventory->board_vendor, "sys/class/dmi/id/board_vendor");
  read_line(root, inventory->board_name, sizeof inventory->board_name, "sys/class/dmi/id/board_name");
  read_line(root, inventory->product, sizeof inventory->product, "sys/class/dmi/id/product_name");
  if (!inventory->product[0]) {
    read_line(root, inventory->product, sizeof inventory->product, "proc/device-tree/model");
  }
  read_pci_id(root, "sys/bus/pci/devices/0000:00:00.0", inventory->chipset_pci_id);
}

/* What firmware and CPU say of a hypervisor. Who hides it hides it from us too. */
static void read_virtualisation(const char *root, const char *cpuinfo, struct vv_inventory *inventory) {
  static const struct {
    const char *word, *name;
  } known[] = {{"KVM", "kvm"},           {"QEMU", "kvm"},           {"VMware", "vmware"},  {"VirtualBox", "virtualbox"},
               {"Xen", "xen"},           {"Bochs", "bochs"},        {"Amazon EC2", "ec2"}, {"Google Compute", "gce"},
               {"Microsoft", "hyper-v"}, {"Parallels", "parallels"}};
  char vendor[VV_INVENTORY_TEXT_MAX], text[3 * VV_INVENTORY_TEXT_MAX];
  read_line(root, vendor, sizeof vendor, "sys/class/dmi/id/sys_vendor");
  snprintf(text, sizeof text, "%s %s %s", vendor, inventory->product, inventory->board_vendor);
  char *result = inventory->virtualisation;
  size_t room = sizeof inventory->virtualisation;
  read_line(root, result, room, "sys/hypervisor/type");
  bool hypervisor = strstr(cpuinfo, " hypervisor") != NULL;
  for (size_t i = 0; !result[0] && i < sizeof known / sizeof known[0]; i++) {
    /* Physical machines have Microsoft and Google as vendors too. */
    if ((hypervisor || i < 6) && strstr(text, known[i].word)) snprintf(result, room, "%s", known[i].name);
  }
  if (!result[0]) snprintf(result, room, "%s", hypervisor ? "yes" : "none");
}

/* processors ---------------------------------------------------------- */

/* "0-3,8" -> marks; the count. */
static int64_t parse_cpus(const char *text, bool online[CPUS_MAX]) {
  int64_t count = 0;
  while (*text >= '0' && *text <= '9') {
    char *end;
    unsigned long first = strtoul(text, &end, 10), last = first;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    for (unsigned long cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++) {
      online[cpu] = true;
      count++;
    }
    text = *end == ',' ? end + 1 : end;
  }
  return count;
}

/* How many different values. */
static int64_t count_distinct(int64_t *values, size_t count) {
  int64_t distinct = 0;
  for (size_t i = 0; i < count; i++) {
    size_t j = 0;
    while (j < i && values[j] != values[i]) j++;
    distinct += j == i;
  }
  return distinct;
}

static void read_topology(const char *root, struct vv_inventory *inventory) {
  static bool online[CPUS_MAX];
  static int64_t sockets[CPUS_MAX], cores[CPUS_MAX];
  char text[512];
  size_t count = 0;
  memset(online, 0, sizeof online);
  read_line(root, text, sizeof text, "sys/devices/system/cpu/online");
  int64_t threads = parse_cpus(text, online);
  inventory->cpu_threads = threads > 0 ? threads : VV_INVENTORY_UNKNOWN;
  inventory->cpu_cores = inventory->cpu_sockets = VV_INVENTORY_UNKNOWN;
  for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
    if (!online[cpu]) continue;
    int64_t socket = read_number(root, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    int64_t core = read_number(root, "sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
    if (core < 0) return;
    sockets[count] = socket;
    cores[count++] = socket * CPUS_MAX + core;
  }
  if (count == 0) return;
  inventory->cpu_cores = count_distinct(cores, count);
  inventory->cpu_sockets = count_distinct(sockets, count);
}

static void read_caches(const char *root, struct vv_inventory *inventory) {
  for (int index = 0; index < VV_INVENTORY_CACHES_MAX; index++) {
    struct vv_inventory_cache *cache = &inventory->caches[inventory->cache_count];
    char directory[64], size[32], *unit;
    snprintf(directory, sizeof directory, "sys/devices/system/cpu/cpu0/cache/index%d", index);
    cache->level = read_number(root, "%s/level", directory);
    read_line(root, cache->kind, sizeof cache->kind, "%s/type", directory);
    read_line(root, size, sizeof size, "%s/size", directory);
    cache->size_bytes = strtoll(size, &unit, 10) * (*unit == 'M' ? 1 << 20 : *unit == 'K' ? 1 << 10 : 1);
    if (cache->level >= 1 && cache->size_bytes > 0) inventory->cache_count++;
  }
}

/* Each architecture has its own words; the first line that is there wins. */
static void read_cpu_model(const char *cpuinfo, struct vv_inventory *inventory) {
  static const char *const names[] = {"model name", "cpu model", "cpu", "Hardware", "vendor_id", "uarch"};
  char implementer[16], part[16];
  char *model = inventory->cpu_model;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !model[0]; i++) {
    find_value(cpuinfo, names[i], ':', model, sizeof inventory->cpu_model);
  }
  if (model[0]) return;
  find_value(cpuinfo, "CPU implementer", ':', implementer, sizeof implementer);
  find_value(cpuinfo, "CPU part", ':', part, sizeof part);
  if (part[0]) snprintf(model, sizeof inventory->cpu_model, "ARM implementer %s part %s", implementer, part);
}

static void read_frequency(const char *root, const char *cpuinfo, struct vv_inventory *inventory) {
  char mhz[32];
  int64_t khz = read_number(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
  find_value(cpuinfo, "cpu MHz", ':', mhz, sizeof mhz);
  if (!mhz[0]) find_value(cpuinfo, "cpu MHz dynamic", ':', mhz, sizeof mhz);
  inventory->cpu_hz = mhz[0] ? (int64_t)(strtod(mhz, NULL) * 1e6 + 0.5) : khz > 0 ? khz * 1000 : VV_INVENTORY_UNKNOWN;
  khz = read_number(root, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  inventory->cpu_hz_max = khz > 0 ? khz * 1000 : VV_INVENTORY_UNKNOWN;
  read_line(root, inventory->governor, sizeof inventory->governor,
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
}

static void read_cpu(const char *root, struct vv_inventory *inventory) {
  static char cpuinfo[FILE_MAX];
  read_all(root, cpuinfo, sizeof cpuinfo, "proc/cpuinfo");
  read_cpu_model(cpuinfo, inventory);
  read_topology(root, inventory);
  read_caches(root, inventory);
  read_frequency(root, cpuinfo, inventory);
  read_virtualisation(root, cpuinfo, inventory);
}

/* network cards ------------------------------------------------------- */

static const struct {
  const char *name;
  uint32_t request;
  uint32_t flag; /* of ETHTOOL_GFLAGS */
} offloads[] = {
    {"rx-checksumming", ETHTOOL_GRXCSUM, 0},
    {"tx-checksumming", ETHTOOL_GTXCSUM, 0},
    {"scatter-gather", ETHTOOL_GSG, 0},
    {"tcp-segmentation-offload", ETHTOOL_GTSO, 0},
    {"generic-segmentation-offload", ETHTOOL_GGSO, 0},
    {"generic-receive-offload", ETHTOOL_GGRO, 0},
    {"large-receive-offload", ETHTOOL_GFLAGS, ETH_FLAG_LRO},
};
#define OFFLOADS (sizeof offloads / sizeof offloads[0])
_Static_assert(OFFLOADS <= VV_INVENTORY_OFFLOADS_MAX, "room for all offloads");

/* Whether the driver of that card answered the request, a struct of <linux/ethtool.h>. fd -1: there is nobody to ask.
 */
static bool ask_driver(int fd, const struct vv_inventory_nic *nic, void *request) {
  struct ifreq ask = {.ifr_data = request};
  memcpy(ask.ifr_name, nic->name, sizeof ask.ifr_name);
  return fd >= 0 && ioctl(fd, SIOCETHTOOL, &ask) == 0;
}

static void read_offloads(int fd, struct vv_inventory_nic *nic) {
  for (size_t i = 0; i < OFFLOADS; i++) {
    struct ethtool_value value = {.cmd = offloads[i].request};
    bool told = ask_driver(fd, nic, &value);
    bool on = offloads[i].flag ? (value.data & offloads[i].flag) != 0 : value.data != 0;
    nic->offloads[i] = (struct vv_inventory_offload){.name = offloads[i].name, .on = told ? on : VV_INVENTORY_UNKNOWN};
  }
}

static void read_coalescing(int fd, struct vv_inventory_nic *nic) {
  struct ethtool_coalesce value = {.cmd = ETHTOOL_GCOALESCE};
  bool told = ask_driver(fd, nic, &value);
  nic->rx_delay_us = told ? (int64_t)value.rx_coalesce_usecs : VV_INVENTORY_UNKNOWN;
  nic->rx_adaptive = told ? value.use_adaptive_rx_coalesce != 0 : VV_INVENTORY_UNKNOWN;
}

static void read_driver(const char *root, struct vv_inventory_nic *nic) {
  char path[PATH_MAX], target[PATH_MAX];
  snprintf(path, sizeof path, "%s/sys/class/net/%s/device/driver", root, nic->name);
  ssize_t length = readlink(path, target, sizeof target - 1);
  target[length > 0 ? length : 0] = '\0';
  const char *slash = strrchr(target, '/');
  snprintf(nic->driver, sizeof nic->driver, "%.100s", slash ? slash + 1 : target);
}

static void read_nic(const char *root, struct vv_inventory_nic *nic) {
  char directory[64];
  snprintf(directory, sizeof directory, "sys/class/net/%s", nic->name);
  read_line(root, nic->mac, sizeof nic->mac, "%s/address", directory);
  read_line(root, nic->state, sizeof nic->state, "%s/operstate", directory);
  read_line(root, nic->duplex, sizeof nic->duplex, "%s/duplex", directory);
  nic->mtu_bytes = read_number(root, "%s/mtu", directory);
  int64_t mbps = read_number(root, "%s/speed", directory);
  nic->speed_bps = mbps > 0 ? mbps * 1000000 : VV_INVENTORY_UNKNOWN;
  read_driver(root, nic);
  strncat(directory, "/device", sizeof directory - strlen(directory) - 1);
  read_pci_id(root, directory, nic->pci_id);
  int fd = strcmp(root, "/") == 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
  read_offloads(fd, nic);
  read_coalescing(fd, nic);
  if (fd >= 0) close(fd);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct vv_inventory_nic *)a)->name, ((const struct vv_inventory_nic *)b)->name);
}

/* Type 1 is Ethernet (ARPHRD_ETHER); loopback and tunnels are others. */
static void read_nics(const char *root, struct vv_inventory *inventory) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/sys/class/net", root);
  DIR *directory = opendir(path);
  if (!directory) return;
  for (struct dirent *entry; inventory->nic_count < VV_INVENTORY_NICS_MAX && (entry = readdir(directory));) {
    struct vv_inventory_nic *nic = &inventory->nics[inventory->nic_count];
    if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof nic->name) continue;
    memcpy(nic->name, entry->d_name, strlen(entry->d_name) + 1);
    if (read_number(root, "sys/class/net/%s/type", nic->name) != 1) continue;
    read_nic(root, nic);
    inventory->nic_count++;
  }
  closedir(directory);
  qsort(inventory->nics, inventory->nic_count, sizeof inventory->nics[0], by_name);
}

/* sockets ------------------------------------------------------------- */

/* The file holds the least, the first and the largest size. */
static void read_tcp_buffer(const char *root, const char *name, int64_t *first_bytes, int64_t *bytes_max) {
  char text[128];
  long long least, first, largest;
  read_line(root, text, sizeof text, "proc/sys/net/ipv4/%s", name);
  bool whole = sscanf(text, "%lld %lld %lld", &least, &first, &largest) == 3;
  *first_bytes = whole ? first : VV_INVENTORY_UNKNOWN;
  *bytes_max = whole ? largest : VV_INVENTORY_UNKNOWN;
}

static void read_sockets(const char *root, struct vv_inventory_socket_buffers *sockets) {
  sockets->send_bytes = read_number(root, "proc/sys/net/core/wmem_default");
  sockets->receive_bytes = read_number(root, "proc/sys/net/core/rmem_default");
  read_tcp_buffer(root, "tcp_wmem", &sockets->tcp_send_bytes, &sockets->tcp_send_bytes_max);
  read_tcp_buffer(root, "tcp_rmem", &sockets->tcp_receive_bytes, &sockets->tcp_receive_bytes_max);
}

/* TCP's files hold 0 for no, and for yes 1 or more. */
static int read_truth(const char *root, const char *name) {
  int64_t number = read_number(root, "proc/sys/net/ipv4/%s", name);
  return number == VV_INVENTORY_UNKNOWN ? VV_INVENTORY_UNKNOWN : number != 0;
}

static void read_tcp(const char *root, struct vv_inventory_tcp *tcp) {
  read_line(root, tcp->congestion_control, VV_INVENTORY_TEXT_MAX, "proc/sys/net/ipv4/tcp_congestion_control");
  read_line(root, tcp->congestion_controls, VV_INVENTORY_TEXT_MAX,
            "proc/sys/net/ipv4/tcp_available_congestion_control");
  tcp->slow_start_after_idle = read_truth(root, "tcp_slow_start_after_idle");
  int forgets = read_truth(root, "tcp_no_metrics_save");
  tcp->metrics_saved = forgets == VV_INVENTORY_UNKNOWN ? VV_INVENTORY_UNKNOWN : !forgets;
  tcp->timestamps = read_truth(root, "tcp_timestamps");
}

void vv_inventory_read(const char *root, struct vv_inventory *inventory) {
  memset(inventory, 0, sizeof *inventory);
  read_program(inventory);
  read_system(root, inventory);
  read_board(root, inventory);
  read_cpu(root, inventory);
  read_sockets(root, &inventory->sockets);
  read_tcp(root, &inventory->tcp);
  read_nics(root, inventory);
}
