/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/inventory.h"
#include "io/os/host.h"
#include "probe/commands.h"
#include "probe/record.h"

static void text_or_null(struct vv_record *record, const char *key, const char *text) {
  if (text[0])
    vv_record_text(record, key, text);
  else
    vv_record_null(record, key);
}

static void number_or_null(struct vv_record *record, const char *key, int64_t number) {
  if (number != VV_UNKNOWN)
    vv_record_int(record, key, number);
  else
    vv_record_null(record, key);
}

static void bool_or_null(struct vv_record *record, const char *key, int value) {
  if (value != VV_UNKNOWN)
    vv_record_bool(record, key, value != 0);
  else
    vv_record_null(record, key);
}

static void record_cpu(struct vv_record *record, const struct vv_inventory *inventory) {
  vv_record_object(record, "cpu");
  text_or_null(record, "model", inventory->cpu_model);
  number_or_null(record, "sockets", inventory->cpu_sockets);
  number_or_null(record, "cores", inventory->cpu_cores);
  number_or_null(record, "threads", inventory->cpu_threads);
  number_or_null(record, "hz", inventory->cpu_hz);
  number_or_null(record, "hz_max", inventory->cpu_hz_max);
  text_or_null(record, "governor", inventory->governor);
  vv_record_array(record, "caches");
  for (size_t i = 0; i < inventory->cache_count; i++) {
    vv_record_object(record, NULL);
    vv_record_int(record, "level", inventory->caches[i].level);
    text_or_null(record, "kind", inventory->caches[i].kind);
    vv_record_int(record, "size_bytes", inventory->caches[i].size_bytes);
    vv_record_object_end(record);
  }
  vv_record_array_end(record);
  vv_record_object_end(record);
}

static void record_board(struct vv_record *record, const struct vv_inventory *inventory) {
  vv_record_object(record, "board");
  text_or_null(record, "vendor", inventory->board_vendor);
  text_or_null(record, "name", inventory->board_name);
  text_or_null(record, "product", inventory->product);
  text_or_null(record, "chipset_pci_id", inventory->chipset_pci_id);
  vv_record_object_end(record);
}

static void record_sockets(struct vv_record *record, const struct vv_socket_buffers *sockets) {
  vv_record_object(record, "sockets");
  number_or_null(record, "send_bytes", sockets->send_bytes);
  number_or_null(record, "receive_bytes", sockets->receive_bytes);
  number_or_null(record, "tcp_send_bytes", sockets->tcp_send_bytes);
  number_or_null(record, "tcp_send_bytes_max", sockets->tcp_send_bytes_max);
  number_or_null(record, "tcp_receive_bytes", sockets->tcp_receive_bytes);
  number_or_null(record, "tcp_receive_bytes_max", sockets->tcp_receive_bytes_max);
  vv_record_object_end(record);
}

static void record_nic(struct vv_record *record, const struct vv_nic *nic) {
  vv_record_object(record, NULL);
  vv_record_text(record, "name", nic->name);
  text_or_null(record, "mac", nic->mac);
  text_or_null(record, "driver", nic->driver);
  text_or_null(record, "pci_id", nic->pci_id);
  text_or_null(record, "state", nic->state);
  text_or_null(record, "duplex", nic->duplex);
  number_or_null(record, "speed_bps", nic->speed_bps);
  number_or_null(record, "mtu_bytes", nic->mtu_bytes);
  vv_record_object(record, "offloads");
  for (size_t i = 0; i < VV_OFFLOADS_MAX && nic->offloads[i].name; i++) {
    bool_or_null(record, nic->offloads[i].name, nic->offloads[i].on);
  }
  vv_record_object_end(record);
  number_or_null(record, "rx_delay_us", nic->rx_delay_us);
  bool_or_null(record, "rx_adaptive", nic->rx_adaptive);
  vv_record_object_end(record);
}

static void record_nics(struct vv_record *record, const struct vv_inventory *inventory) {
  vv_record_array(record, "nics");
  for (size_t i = 0; i < inventory->nic_count; i++) record_nic(record, &inventory->nics[i]);
  vv_record_array_end(record);
}

int vv_command_inventory(const struct vv_options *options, struct vv_error *error) {
  static struct vv_inventory inventory;
  struct vv_host host;
  struct vv_record record;
  vv_host_read(&host);
  vv_inventory_read(options->root ? options->root : "/", &inventory);
  vv_record_begin_stream(&record, "inventory");
  text_or_null(&record, "hostname", inventory.hostname);
  vv_record_text(&record, "arch", host.arch);
  vv_record_text(&record, "byte_order", host.byte_order);
  text_or_null(&record, "os", inventory.os);
  text_or_null(&record, "kernel", inventory.kernel);
  text_or_null(&record, "kernel_build", inventory.kernel_build);
  text_or_null(&record, "libc", inventory.libc);
  text_or_null(&record, "compiler", inventory.compiler);
  record_cpu(&record, &inventory);
  number_or_null(&record, "memory_bytes", inventory.memory_bytes);
  record_board(&record, &inventory);
  text_or_null(&record, "virtualisation", inventory.virtualisation);
  text_or_null(&record, "clock_source", inventory.clock_source);
  number_or_null(&record, "load_milli", inventory.load_milli);
  record_sockets(&record, &inventory.sockets);
  record_nics(&record, &inventory);
  return vv_record_end(&record, error);
}
