/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines read from copies of their files: an old PC, a virtual machine, a big-endian mainframe, a small ARM board. */
#include "io/os/inventory.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

struct entry {
  const char *path;
  const char *text; /* "-> X": a symbolic link to X */
};

static char root[] = "/tmp/vaiven-inventory-XXXXXX";

static void make_parents(char *path) {
  for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    mkdir(path, 0755);
  }
}

static void make_machine(const struct entry *entries) {
  strcpy(root + strlen(root) - 6, "XXXXXX");
  assert_non_null(mkdtemp(root));
  for (; entries->path; entries++) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, entries->path);
    make_parents(path);
    if (strncmp(entries->text, "-> ", 3) == 0) {
      assert_int_equal(symlink(entries->text + 3, path), 0);
      continue;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(entries->text, file);
    fclose(file);
  }
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *ftw) {
  (void)status, (void)flag, (void)ftw;
  return remove(path);
}

static struct vv_inventory read_machine(const struct entry *entries) {
  struct vv_inventory inventory;
  make_machine(entries);
  vv_inventory_read(root, &inventory);
  nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return inventory;
}

#define CPU "sys/devices/system/cpu/"
#define NET "sys/class/net/"

static const struct entry old_pc[] = {
    {"proc/sys/kernel/hostname", "purmamarca\n"},
    {"proc/sys/kernel/osrelease", "2.6.32-5-686\n"},
    {"proc/sys/kernel/version", "#1 SMP Sat May 5 01:33:08 UTC 2012\n"},
    {"proc/cpuinfo",
     "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: Pentium II (Deschutes)\n"
     "cpu MHz\t\t: 400.913\nflags\t\t: fpu vme de pse tsc msr pae mce cx8 mmx fxsr\n"},
    {"proc/meminfo", "MemTotal:          62344 kB\nMemFree:            1234 kB\n"},
    {"proc/loadavg", "0.07 0.02 0.00 1/74 1234\n"},
    {"proc/sys/net/core/wmem_default", "108544\n"},
    {"proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n"},
    {"proc/sys/net/ipv4/tcp_rmem", "4096\t87380\n"},
    {CPU "online", "0\n"},
    {"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
    {"sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n"},
    {"sys/bus/pci/devices/0000:00:00.0/device", "0x7190\n"},
    {NET "lo/type", "772\n"},
    {NET "eth0/type", "1\n"},
    {NET "eth0/mtu", "1500\n"},
    {NET "eth0/speed", "10\n"},
    {NET "eth0/duplex", "half\n"},
    {NET "eth0/operstate", "up\n"},
    {NET "eth0/address", "00:50:04:aa:bb:cc\n"},
    {NET "eth0/device/vendor", "0x10b7\n"},
    {NET "eth0/device/device", "0x9055\n"},
    {NET "eth0/device/driver", "-> ../../../bus/pci/drivers/3c59x"},
    {0},
};

static void test_an_old_pc(void **state) {
  (void)state;
  struct vv_inventory inventory = read_machine(old_pc);
  assert_string_equal(inventory.hostname, "purmamarca");
  assert_string_equal(inventory.kernel, "2.6.32-5-686");
  assert_string_equal(inventory.cpu_model, "Pentium II (Deschutes)");
  assert_int_equal(inventory.cpu_hz, 400913000);
  assert_int_equal(inventory.cpu_hz_max, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.cpu_threads, 1);
  assert_int_equal(inventory.cpu_cores, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.cache_count, 0);
  assert_int_equal(inventory.memory_bytes, 62344 * 1024);
  assert_int_equal(inventory.load_milli, 70);
  assert_int_equal(inventory.sockets.send_bytes, 108544);
  assert_int_equal(inventory.sockets.receive_bytes, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.sockets.tcp_send_bytes, 16384);
  assert_int_equal(inventory.sockets.tcp_send_bytes_max, 4194304);
  assert_int_equal(inventory.sockets.tcp_receive_bytes, VV_INVENTORY_UNKNOWN); /* its file is not what it should be */
  assert_string_equal(inventory.chipset_pci_id, "8086:7190");
  assert_string_equal(inventory.virtualisation, "none");
  assert_string_equal(inventory.os, "");
  assert_int_equal(inventory.nic_count, 1);
  const struct vv_inventory_nic *nic = &inventory.nics[0];
  assert_string_equal(nic->name, "eth0");
  assert_string_equal(nic->driver, "3c59x");
  assert_string_equal(nic->pci_id, "10b7:9055");
  assert_string_equal(nic->duplex, "half");
  assert_int_equal(nic->speed_bps, 10000000);
  assert_int_equal(nic->mtu_bytes, 1500);
  assert_int_equal(nic->offloads[0].on, VV_INVENTORY_UNKNOWN); /* it is not the running machine */
}

static const struct entry virtual_machine[] = {
    {"etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n"},
    {"proc/cpuinfo",
     "processor\t: 0\nmodel name\t: Some \"quoted\" CPU @ 2.50GHz\nflags\t\t: fpu hypervisor lahf_lm\n"},
    {"proc/loadavg", "12.50 1.00 0.50 3/400 9\n"},
    {CPU "online", "0-2,5\n"},
    {CPU "cpu0/topology/physical_package_id", "0\n"},
    {CPU "cpu0/topology/core_id", "0\n"},
    {CPU "cpu1/topology/physical_package_id", "0\n"},
    {CPU "cpu1/topology/core_id", "0\n"},
    {CPU "cpu2/topology/physical_package_id", "1\n"},
    {CPU "cpu2/topology/core_id", "0\n"},
    {CPU "cpu5/topology/physical_package_id", "1\n"},
    {CPU "cpu5/topology/core_id", "1\n"},
    {CPU "cpu0/cache/index0/level", "1\n"},
    {CPU "cpu0/cache/index0/type", "Data\n"},
    {CPU "cpu0/cache/index0/size", "32K\n"},
    {CPU "cpu0/cache/index1/level", "3\n"},
    {CPU "cpu0/cache/index1/type", "Unified\n"},
    {CPU "cpu0/cache/index1/size", "36M\n"},
    {CPU "cpu0/cpufreq/scaling_cur_freq", "1200000\n"},
    {CPU "cpu0/cpufreq/cpuinfo_max_freq", "3500000\n"},
    {CPU "cpu0/cpufreq/scaling_governor", "powersave\n"},
    {"sys/class/dmi/id/sys_vendor", "QEMU\n"},
    {"sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9, 2009)\n"},
    {NET "zeta/type", "1\n"},
    {NET "zeta/speed", "-1\n"},
    {NET "alpha/type", "1\n"},
    {0},
};

static void test_a_virtual_machine(void **state) {
  (void)state;
  struct vv_inventory inventory = read_machine(virtual_machine);
  assert_string_equal(inventory.os, "Debian GNU/Linux 12 (bookworm)");
  assert_int_equal(inventory.cpu_threads, 4);
  assert_int_equal(inventory.cpu_cores, 3);
  assert_int_equal(inventory.cpu_sockets, 2);
  assert_int_equal(inventory.cache_count, 2);
  assert_int_equal(inventory.caches[0].size_bytes, 32 << 10);
  assert_string_equal(inventory.caches[1].kind, "Unified");
  assert_int_equal(inventory.caches[1].size_bytes, 36 << 20);
  assert_int_equal(inventory.cpu_hz, 1200000000);
  assert_int_equal(inventory.cpu_hz_max, 3500000000);
  assert_string_equal(inventory.governor, "powersave");
  assert_string_equal(inventory.virtualisation, "kvm");
  assert_int_equal(inventory.load_milli, 12500);
  assert_int_equal(inventory.nic_count, 2);
  assert_string_equal(inventory.nics[0].name, "alpha");
  assert_string_equal(inventory.nics[1].name, "zeta");
  assert_int_equal(inventory.nics[1].speed_bps, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.memory_bytes, VV_INVENTORY_UNKNOWN);
}

static const struct entry mainframe[] = {
    {"proc/cpuinfo", "vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3241.00\n"
                     "cpu MHz dynamic : 5200\ncpu MHz static  : 5200\n"},
    {"sys/hypervisor/type", "zvm\n"},
    {0},
};

static const struct entry arm_board[] = {
    {"proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n"},
    {"proc/device-tree/model", "Some Board Rev 1.1"},
    {0},
};

static void test_other_architectures(void **state) {
  (void)state;
  struct vv_inventory inventory = read_machine(mainframe);
  assert_string_equal(inventory.cpu_model, "IBM/S390");
  assert_int_equal(inventory.cpu_hz, 5200000000);
  assert_string_equal(inventory.virtualisation, "zvm");
  inventory = read_machine(arm_board);
  assert_string_equal(inventory.cpu_model, "ARM implementer 0x41 part 0xd08");
  assert_string_equal(inventory.product, "Some Board Rev 1.1");
}

static const struct entry nothing[] = {{"etc/motd", ""}, {0}};

static void test_a_machine_that_tells_nothing(void **state) {
  (void)state;
  struct vv_inventory inventory = read_machine(nothing);
  assert_string_equal(inventory.cpu_model, "");
  assert_int_equal(inventory.cpu_threads, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.cpu_hz, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.load_milli, VV_INVENTORY_UNKNOWN);
  assert_int_equal(inventory.nic_count, 0);
  assert_string_equal(inventory.virtualisation, "none");
  vv_inventory_read("/nonexistent", &inventory);
  assert_int_equal(inventory.nic_count, 0);
}

static void test_this_machine(void **state) {
  (void)state;
  struct vv_inventory inventory;
  struct utsname system;
  uname(&system);
  vv_inventory_read("/", &inventory);
  assert_string_equal(inventory.kernel, system.release);
  assert_string_equal(inventory.kernel_build, system.version);
  assert_string_equal(inventory.hostname, system.nodename);
  assert_int_equal(inventory.cpu_threads, sysconf(_SC_NPROCESSORS_ONLN));
  int64_t memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  assert_true(inventory.memory_bytes > memory_bytes * 9 / 10 && inventory.memory_bytes < memory_bytes * 11 / 10);
  assert_true(inventory.cpu_model[0] && inventory.clock_source[0] && inventory.compiler[0] && inventory.libc[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_old_pc),           cmocka_unit_test(test_a_virtual_machine),
      cmocka_unit_test(test_other_architectures), cmocka_unit_test(test_a_machine_that_tells_nothing),
      cmocka_unit_test(test_this_machine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
