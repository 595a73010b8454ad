/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/eth.h"

#include <assert.h>

uint32_t vv_eth_wire_bytes(size_t data_bytes, bool tagged) {
  size_t content = data_bytes + (tagged ? VV_ETH_TAG_BYTES : 0);
  size_t padded = content < VV_ETH_DATA_BYTES_MIN ? VV_ETH_DATA_BYTES_MIN : content;
  return (uint32_t)(padded + VV_ETH_OVERHEAD_BYTES);
}

vv_ns vv_eth_ns(uint64_t wire_bytes, uint64_t rate_bps) {
  assert(rate_bps > 0 && wire_bytes < UINT64_MAX / 16 / VV_SEC);
  return (vv_ns)((wire_bytes * 8 * VV_SEC + rate_bps - 1) / rate_bps);
}
