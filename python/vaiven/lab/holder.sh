#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# holder.sh LAB/HOST HOSTNAME HOSTS-FILE: the first process of a host of a lab, or of its switch (LAB/).
#
# Started by vaiven.lab.namespace in new net, uts, ipc, mount and pid namespaces. It makes the host look like a machine
# of its own, prints its process number as the starter sees it, and waits for one line. Without that line it ends with the
# starter, and its namespaces with it. With it, it holds them until it is killed.
set -eu
hostname=$2 hosts=$3

# /proc is still the starter's here, so the number in it is the starter's too.
read -r pid _ </proc/self/stat

mount -n -t proc proc /proc
mount -n -t tmpfs -o mode=1777 tmpfs /dev/shm

# A new /sys shows this host's interfaces; the control groups below the old one move into it.
# Where a container forbids it, the old one stays.
mkdir /dev/shm/cgroup
mount -n --rbind /sys/fs/cgroup /dev/shm/cgroup
if mount -n -t sysfs sysfs /sys 2>/dev/null; then
  mount -n --move /dev/shm/cgroup /sys/fs/cgroup
else
  umount -n -l /dev/shm/cgroup
fi
rmdir /dev/shm/cgroup

mount -n --bind "$hosts" /etc/hosts
hostname "$hostname"

# No address but those that the lab gives, and no frame on the fabric that nobody asked for.
if [ -d /proc/sys/net/ipv6/conf/default ]; then
  cd /proc/sys/net/ipv6/conf/default
  echo 0 >disable_ipv6
  echo 1 >addr_gen_mode
  echo 0 >accept_ra
  echo 0 >accept_dad
  echo 1 >mldv2_unsolicited_report_interval # ms: what is reported is reported before the lab is up
  cd /
fi

# Orphans of this host become our children. While we wait for the line the shell buries them, and only a child may read
# it: their SIGCHLD breaks the shell's own read. Afterwards they are ignored, so that the kernel buries them.
echo "$pid"
(read -r _)
exec </dev/null >/dev/null 2>&1
exec env --ignore-signal=CHLD sleep infinity
