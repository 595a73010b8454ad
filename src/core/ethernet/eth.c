/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/eth.h"

#include <assert.h>

#define SHARE_BYTES UINT64_C(1000000000) /* whose bits, times a second in ns, fit 64 bits */

uint32_t vv_eth_wire_bytes(size_t data_bytes, bool tagged) {
  size_t content = data_bytes + (tagged ? VV_ETH_TAG_BYTES : 0);
  size_t padded = content < VV_ETH_DATA_BYTES_MIN ? VV_ETH_DATA_BYTES_MIN : content;
  return (uint32_t)(padded + VV_ETH_OVERHEAD_BYTES);
}

vv_ns vv_eth_ns(uint64_t wire_bytes, uint64_t rate_bps) {
  assert(rate_bps > 0 && rate_bps < UINT64_MAX / 2);
  vv_ns whole_ns = 0;
  if (wire_bytes > SHARE_BYTES) {
    whole_ns = (vv_ns)(wire_bytes / SHARE_BYTES) * vv_eth_ns(SHARE_BYTES, rate_bps);
    wire_bytes %= SHARE_BYTES;
  }
  return whole_ns + (vv_ns)((wire_bytes * 8 * VV_SEC + rate_bps - 1) / rate_bps);
}
