#!/usr/bin/env bash
# Makes a PostgreSQL 15 image out of Debian packages, for machines that have a container engine but no image registry.
# Usage: scripts/postgres-image.sh TAG CACHE_FOLDER
# Needs root, debootstrap and a container engine. Does nothing when the engine has the tag; the root file system is kept
# in CACHE_FOLDER, so that a new engine costs an import and not a bootstrap.
set -euo pipefail

tag=$1
cache=$2
rootfs=$cache/postgres15-bookworm-1.tar

if docker image inspect "$tag" >/dev/null 2>&1; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -s "$rootfs" ]; then
  echo "building a PostgreSQL 15 root file system with debootstrap; this takes one to four minutes, once" >&2
  mkdir -p "$cache"
  if ! debootstrap --variant=minbase --include=postgresql-15 bookworm "$work/root" >"$work/debootstrap.log" 2>&1; then
    tail -n 20 "$work/debootstrap.log" >&2
    echo "debootstrap failed" >&2
    exit 1
  fi
  # The package's own cluster and the package cache are not wanted; the entrypoint makes a cluster per container.
  rm -rf "$work"/root/var/lib/postgresql/15 "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/*
  tar -C "$work/root" --one-file-system -cf "$rootfs.partial" .
  mv "$rootfs.partial" "$rootfs"
fi

cat >"$work/docker-entrypoint.sh" <<'SCRIPT'
#!/bin/bash
# The part of the official image's entrypoint that we use: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB.
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  if [ "$POSTGRES_DB" != postgres ]; then
    printf 'CREATE DATABASE "%s";\n' "$POSTGRES_DB" | postgres --single -D "$PGDATA" postgres >/dev/null
  fi
fi
exec "$@"
SCRIPT
chmod 755 "$work/docker-entrypoint.sh"

cat >"$work/Dockerfile" <<'DOCKERFILE'
ARG base
FROM ${base}
ENV PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
COPY docker-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]
CMD ["postgres", "-c", "listen_addresses=*"]
DOCKERFILE

docker import "$rootfs" "$tag-rootfs" >/dev/null
mkdir "$work/context"
cp "$work/Dockerfile" "$work/docker-entrypoint.sh" "$work/context/"
# The classic builder, because the newer one may be missing and would look the base image up in a registry.
if ! DOCKER_BUILDKIT=0 docker build --build-arg "base=$tag-rootfs" --tag "$tag" "$work/context" >"$work/build.log" 2>&1; then
  cat "$work/build.log" >&2
  exit 1
fi
echo "container image $tag is ready" >&2
