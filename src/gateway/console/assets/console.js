// Asks for the page again every few seconds and puts its live parts in place of those that are shown. Without it a page is as good, after a reload.
const seconds = Number(document.body.dataset.refresh);
const note = document.getElementById('refreshed');

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { headers: { 'x-refresh': '1' }, redirect: 'manual' });
  if (!answer.ok) throw new Error(`the console answered with ${answer.status || 'another page'}`);
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = next.getElementById(part.id);
    if (!fresh || isInUse(part)) continue;
    keepOpen(part, fresh);
    if (fresh.innerHTML !== part.innerHTML) part.replaceWith(document.importNode(fresh, true));
  }
  if (note) note.textContent = `Refreshed at ${new Date().toISOString().slice(11, 19)} UTC.`;
}

/** Nothing moves under whoever reads with the keyboard or has marked some of it. */
function isInUse(part) {
  const selection = getSelection();
  return part.contains(document.activeElement) || (selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode));
}

/** What somebody has opened stays open. */
function keepOpen(part, fresh) {
  const now = part.querySelectorAll('details');
  fresh.querySelectorAll('details').forEach((details, at) => {
    if (now[at]?.open) details.open = true;
  });
}

let failures = 0;
async function again() {
  try {
    await refresh();
    failures = 0;
  } catch {
    failures += 1;
    if (note) note.textContent = 'This page could not be refreshed. Load it again.';
  }
  if (failures < 20) setTimeout(again, seconds * 1000 * Math.min(10, failures + 1));
}

if (seconds > 0) setTimeout(again, seconds * 1000);
