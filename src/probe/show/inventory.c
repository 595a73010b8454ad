/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/inventory.h"
#include "io/os/host.h"

#include "probe/base/record.h"
#include "probe/show/show.h"

static void record_cpu(struct vv_record *record, const struct vv_inventory *inventory) {
  vv_record_object(record, "cpu");
  vv_record_known_text(record, "model", inventory->cpu_model);
  vv_record_known(record, "sockets", inventory->cpu_sockets);
  vv_record_known(record, "cores", inventory->cpu_cores);
  vv_record_known(record, "threads", inventory->cpu_threads);
  vv_record_known(record, "hz", inventory->cpu_hz);
  vv_record_known(record, "hz_max", inventory->cpu_hz_max);
  vv_record_known_text(record, "governor", inventory->governor);
  vv_record_array(record, "caches");
  for (size_t i = 0; i < inventory->cache_count; i++) {
    vv_record_object(record, NULL);
    vv_record_int(record, "level", inventory->caches[i].level);
    vv_record_known_text(record, "kind", inventory->caches[i].kind);
    vv_record_int(record, "size_bytes", inventory->caches[i].size_bytes);
    vv_record_object_end(record);
  }
  vv_record_array_end(record);
  vv_record_object_end(record);
}

static void record_board(struct vv_record *record, const struct vv_inventory *inventory) {
  vv_record_object(record, "board");
  vv_record_known_text(record, "vendor", inventory->board_vendor);
  vv_record_known_text(record, "name", inventory->board_name);
  vv_record_known_text(record, "product", inventory->product);
  vv_record_known_text(record, "chipset_pci_id", inventory->chipset_pci_id);
  vv_record_object_end(record);
}

static void record_sockets(struct vv_record *record, const struct vv_inventory_socket_buffers *sockets) {
  vv_record_object(record, "sockets");
  vv_record_known(record, "send_bytes", sockets->send_bytes);
  vv_record_known(record, "receive_bytes", sockets->receive_bytes);
  vv_record_known(record, "tcp_send_bytes", sockets->tcp_send_bytes);
  vv_record_known(record, "tcp_send_bytes_max", sockets->tcp_send_bytes_max);
  vv_record_known(record, "tcp_receive_bytes", sockets->tcp_receive_bytes);
  vv_record_known(record, "tcp_receive_bytes_max", sockets->tcp_receive_bytes_max);
  vv_record_object_end(record);
}

static void record_tcp(struct vv_record *record, const struct vv_inventory_tcp *tcp) {
  vv_record_object(record, "tcp");
  vv_record_known_text(record, "congestion_control", tcp->congestion_control);
  vv_record_known_text(record, "congestion_controls", tcp->congestion_controls);
  vv_record_known_bool(record, "slow_start_after_idle", tcp->slow_start_after_idle);
  vv_record_known_bool(record, "metrics_saved", tcp->metrics_saved);
  vv_record_known_bool(record, "timestamps", tcp->timestamps);
  vv_record_object_end(record);
}

static void record_nic(struct vv_record *record, const struct vv_inventory_nic *nic) {
  vv_record_object(record, NULL);
  vv_record_text(record, "name", nic->name);
  vv_record_known_text(record, "mac", nic->mac);
  vv_record_known_text(record, "driver", nic->driver);
  vv_record_known_text(record, "pci_id", nic->pci_id);
  vv_record_known_text(record, "state", nic->state);
  vv_record_known_text(record, "duplex", nic->duplex);
  vv_record_known(record, "speed_bps", nic->speed_bps);
  vv_record_known(record, "mtu_bytes", nic->mtu_bytes);
  vv_record_object(record, "offloads");
  for (size_t i = 0; i < VV_INVENTORY_OFFLOADS_MAX && nic->offloads[i].name; i++) {
    vv_record_known_bool(record, nic->offloads[i].name, nic->offloads[i].on);
  }
  vv_record_object_end(record);
  vv_record_known(record, "rx_delay_us", nic->rx_delay_us);
  vv_record_known_bool(record, "rx_adaptive", nic->rx_adaptive);
  vv_record_object_end(record);
}

static void record_nics(struct vv_record *record, const struct vv_inventory *inventory) {
  vv_record_array(record, "nics");
  for (size_t i = 0; i < inventory->nic_count; i++) record_nic(record, &inventory->nics[i]);
  vv_record_array_end(record);
}

int vv_show_inventory(const struct vv_probe_config *config, struct vv_error *error) {
  static struct vv_inventory inventory;
  struct vv_host host;
  struct vv_record record;
  vv_host_read(&host, NULL);
  vv_inventory_read(config->root ? config->root : "/", &inventory);
  vv_record_begin_stream(&record, "inventory");
  vv_record_known_text(&record, "hostname", inventory.hostname);
  vv_record_text(&record, "arch", host.arch);
  vv_record_text(&record, "byte_order", host.byte_order);
  vv_record_known_text(&record, "os", inventory.os);
  vv_record_known_text(&record, "kernel", inventory.kernel);
  vv_record_known_text(&record, "kernel_build", inventory.kernel_build);
  vv_record_known_text(&record, "libc", inventory.libc);
  vv_record_known_text(&record, "compiler", inventory.compiler);
  record_cpu(&record, &inventory);
  vv_record_known(&record, "memory_bytes", inventory.memory_bytes);
  record_board(&record, &inventory);
  vv_record_known_text(&record, "virtualisation", inventory.virtualisation);
  vv_record_known_text(&record, "clock_source", inventory.clock_source);
  vv_record_known(&record, "load_milli", inventory.load_milli);
  record_sockets(&record, &inventory.sockets);
  record_tcp(&record, &inventory.tcp);
  record_nics(&record, &inventory);
  return vv_record_end(&record, error);
}
