/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two ends of a launch say before either has proved that it holds the
 * key (core/wire/line.h; probe/link/session.h has the order):
 *
 *   vaiven schema= probe= nonce=              far, to whoever connects
 *   near schema= probe= nonce= proof= ...     near
 *   welcome proof= ...                        far
 *
 * A proof is SipHash-2-4 of the role and both nonces under the launch key: the key
 * itself never travels, no proof can be used twice, and none can be sent back.
 */
#ifndef VV_CORE_WIRE_HELLO_H
#define VV_CORE_WIRE_HELLO_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/siphash.h"

#define VV_HELLO_NONCE_BYTES 8
#define VV_HELLO_PROOF_BYTES 8
#define VV_HELLO_VERSION_MAX 32 /* with its end */

enum vv_hello_role { VV_HELLO_NEAR = 'n', VV_HELLO_FAR = 'f' };

/* Whoever sent it may be anybody. */
struct vv_hello {
  char version[VV_HELLO_VERSION_MAX]; /* of its program; "": unsaid, or too long */
  bool has_nonce;
  bool has_proof;
  uint8_t nonce[VV_HELLO_NONCE_BYTES];
  uint8_t proof[VV_HELLO_PROOF_BYTES];
};

/* The two nonces of a launch's meeting. */
struct vv_hello_nonces {
  uint8_t far[VV_HELLO_NONCE_BYTES];
  uint8_t near[VV_HELLO_NONCE_BYTES];
};

/* Reads one of the lines above, or any other: what is missing, too long or no hexadecimal is not there. */
struct vv_hello vv_hello_parse(const char *line);

/* The proof of that role. */
void vv_hello_prove(const uint8_t key[VV_KEY_BYTES], enum vv_hello_role role, const struct vv_hello_nonces *nonces,
                    uint8_t proof[VV_HELLO_PROOF_BYTES]);

/* True when it proves that its sender, in that role, holds the key. */
bool vv_hello_holds(const struct vv_hello *hello, const uint8_t key[VV_KEY_BYTES], enum vv_hello_role role,
                    const struct vv_hello_nonces *nonces);

#endif
