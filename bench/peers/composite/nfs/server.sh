#!/bin/sh
# server.sh CONF: an NFS server, nfs-ganesha, for files in memory at /run/export, reached at 192.0.2.1 (it doesn't take
# loopback).
#
# Run it by `unshare -n -m -p -f --mount-proc --kill-child`: what it makes is seen by nobody else, and ends with that.
# It says "ready" when it is.
set -e
ip link set lo up
ip address add 192.0.2.1/32 dev lo
mount -t tmpfs none /run
mount -t tmpfs none /var/lib/nfs
mkdir -p -m 777 /run/export /run/ganesha /var/lib/nfs/ganesha
rpcbind -w
log=/run/ganesha/log
ganesha.nfsd -F -f "$1" -L $log -p /run/ganesha/pid -N NIV_EVENT &
tries=0
until grep -qs 'NFS SERVER INITIALIZED' $log; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ] || ! kill -0 $! 2>/dev/null; then
        echo "ganesha.nfsd can't be started: $(tail -n 1 $log)"
        exit 1
    fi
    sleep 0.05
done
if grep -q 'Failed to load FSAL' $log; then
    echo "the package nfs-ganesha-vfs is missing"
    exit 1
fi
echo ready
wait
