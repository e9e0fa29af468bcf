#!/usr/bin/env bash
# Makes the images of the real servers of the live tests out of Debian packages: a container engine, and no image registry.
# Usage: scripts/live-images.sh CACHE_FOLDER [NAME ...]
# A NAME is a folder of infra/live, such as `tickets`; without one, all of them. The tag of an image is trialbed-live-NAME:HASH, with a
# hash of its folder, and trialbed-live-NAME:current. What is made is kept in CACHE_FOLDER, so that a new engine costs an import.
# Needs root, debootstrap and a container engine.
set -euo pipefail

cache=$1
shift
live=$(cd "$(dirname "$0")/../infra/live" && pwd)
[ $# -gt 0 ] || set -- $(ls "$live")

readonly base=trialbed-live-base:1
readonly base_file=$cache/live-base-bookworm-1.tar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"

say() { echo "live-images: $*" >&2; }

base_image() {
  docker image inspect "$base" >/dev/null 2>&1 && return
  if [ ! -s "$base_file" ]; then
    say 'building a Debian root file system with debootstrap; this takes one to four minutes, once'
    if ! debootstrap --variant=minbase --include=ca-certificates bookworm "$work/root" >"$work/debootstrap.log" 2>&1; then
      tail -n 20 "$work/debootstrap.log" >&2
      return 1
    fi
    rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/*
    tar -C "$work/root" --one-file-system -cf "$base_file.partial" .
    mv "$base_file.partial" "$base_file"
  fi
  docker import "$base_file" "$base" >/dev/null
}

image() {
  local name=$1 hash tag file
  hash=$(cd "$live/$name" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-12)
  tag=trialbed-live-$name:$hash
  file=$cache/live-$name-$hash.tar
  if ! docker image inspect "$tag" >/dev/null 2>&1; then
    if [ -s "$file" ]; then
      docker load -q -i "$file" >/dev/null
    else
      base_image
      say "building $tag; this takes one to five minutes, once"
      # The classic builder, because the newer one may be missing and would look the base image up in a registry.
      if ! DOCKER_BUILDKIT=0 docker build --build-arg "base=$base" --tag "$tag" "$live/$name" >"$work/build.log" 2>&1; then
        tail -n 60 "$work/build.log" >&2
        return 1
      fi
      rm -f "$cache/live-$name-"*.tar
      docker save -o "$file.partial" "$tag"
      mv "$file.partial" "$file"
    fi
  fi
  docker tag "$tag" "trialbed-live-$name:current"
  say "trialbed-live-$name:current is ready"
}

for name in "$@"; do
  [ -f "$live/$name/Dockerfile" ] || { say "there is no $live/$name/Dockerfile"; exit 2; }
  image "$name"
done
