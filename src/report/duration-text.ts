/** A time for people: `0.4 s`, `12 s`, `4 min 05 s`, `3 h 20 min`, `2 d 4 h`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
