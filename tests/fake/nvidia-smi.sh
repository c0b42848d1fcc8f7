#!/bin/sh
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
# A nvidia-smi for tests, played from a scenario (tests/fake/README.md):
#   FAKE_GPU_SCENARIO=file   FAKE_SMI_LOG=file (optional: one line a call: pid, arguments)
case_file=${FAKE_GPU_SCENARIO:?set FAKE_GPU_SCENARIO}
[ -n "${FAKE_SMI_LOG:-}" ] && printf '%s %s\n' "$$" "$*" >>"$FAKE_SMI_LOG"
dir=$(dirname "$case_file")
mode=plain; fields=; hdr=1; units=1; want=
for a in "$@"; do
  case "$a" in
    --query-gpu=*) mode=gpu; fields=${a#*=} ;;
    --query-compute-apps=*) mode=app; fields=${a#*=} ;;
    --format=*) case "$a" in *noheader*) hdr=0 ;; esac; case "$a" in *nounits*) units=0 ;; esac ;;
    -x|--xml-format) mode=xml ;;
    -L|--list-gpus) mode=list ;;
    -i) want=next ;;
    --id=*) want=${a#*=} ;;
    *) [ "$want" = next ] && want=$a ;;
  esac
done
get() { sed -n "s/^[[:space:]]*$1[[:space:]][[:space:]]*//p" "$case_file" | head -1; }
d=$(get delay_ms); [ -n "$d" ] && sleep "$(awk -v d="$d" 'BEGIN{printf "%.3f", d/1000}')"
if grep -q '^[[:space:]]*hang$' "$case_file"; then exec sleep 86400; fi
sed -n 's/^[[:space:]]*stderr //p' "$case_file" >&2
nf=$(get needs_file)
if [ -n "$nf" ] && [ ! -e "$nf" ]; then
  printf '%s\n' "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."; printf '\n'
  exit 9
fi
rc=$(get rc); rc=${rc:-0}
if [ "$mode" = xml ]; then
  x=$(get xml); [ -n "$x" ] && cat "$dir/$x"
  exit "$rc"
fi
if [ "$mode" = list ]; then x=$(get list); if [ -n "$x" ]; then cat "$dir/$x"; exit "$rc"; fi; fi
render() {
awk -v mode="$mode" -v fields="$fields" -v hdr="$hdr" -v units="$units" '
function unit(f){ if(f ~ /^utilization\./||f=="fan.speed") return "%"; if(f ~ /memory\.(total|used|free|reserved)$/||f=="used_memory"||f=="used_gpu_memory") return "MiB";
  if(f ~ /^power\./) return "W"; if(f ~ /^clocks\.(gr|sm|mem|video|max)/) return "MHz"; return "" }
function val(v,f,  u){ u=unit(f); if(units && u!="" && v ~ /^-?[0-9.]+$/) return v " " u; return v }
BEGIN{ n=split(fields,F,","); for(i=1;i<=n;i++) gsub(/^[ \t]+|[ \t]+$/,"",F[i]) }
{ line=$0; sub(/^[ \t]+/,"",line) }
inraw{ if(line=="endraw"){inraw=0} else {print $0; rawseen=1} next }
line=="raw"{inraw=1; next}
line=="gpu"||line=="app"{blk=line; nb[blk]++; next}
line=="end"{blk=""; next}
blk!=""{ sp=index(line," "); k=(sp?substr(line,1,sp-1):line); v=(sp?substr(line,sp+1):""); T[blk,nb[blk],k]=v; H[blk,nb[blk],k]=1; next }
line ~ /^pre /{pre=pre substr(line,5) "\n"; next}
line ~ /^post /{post=post substr(line,6) "\n"; next}
line ~ /^bad_field /{bad[substr(line,11)]=1; next}
line ~ /^rename /{split(line,R," "); ren[R[2]]=R[3]; next}
END{
  if(rawseen) exit
  if(mode=="gpu"||mode=="app"){
    for(i=1;i<=n;i++) if(F[i] in bad){ printf "Field \"%s\" is not a valid field to query.\n\n", F[i]; exit 2 }
    printf "%s", pre
    if(hdr){ for(i=1;i<=n;i++){ h=(F[i] in ren)?ren[F[i]]:F[i]; u=unit(F[i]); printf "%s%s%s", (i>1?", ":""), h, (u!=""?" [" u "]":"") } printf "\n" }
    for(g=1;g<=nb[mode];g++){ for(i=1;i<=n;i++){ f=F[i]; v=((mode,g,f) in H)?T[mode,g,f]:(((mode,g,"default") in H)?T[mode,g,"default"]:"[N/A]"); printf "%s%s", (i>1?", ":""), val(v,f) } printf "\n" }
    printf "%s", post
  } else if(mode=="list"){ printf "%s", pre; for(g=1;g<=nb["gpu"];g++) printf "GPU %s: %s (UUID: %s)\n", T["gpu",g,"index"], T["gpu",g,"name"], T["gpu",g,"uuid"]; printf "%s", post }
}' "$case_file"
}
cr=$(get cut_row)
if [ -n "$cr" ]; then
  render | awk -v n="${cr% *}" -v c="${cr#* }" 'NR<n{print} NR==n{printf "%s", substr($0,1,length($0)-c)}'
  exec sleep 86400
fi
st=$(get stall_after)
if [ -n "$st" ]; then render | head -c "$st"; exec sleep 86400; fi
render; r=$?
[ "$r" -ne 0 ] && exit "$r"
exit "$rc"
