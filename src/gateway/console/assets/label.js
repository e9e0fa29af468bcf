// Keys for the page on which trials are labelled. Without it the same buttons and links are there.
const form = document.getElementById('label');
const note = document.getElementById('note');
const keys = document.getElementById('keys');
if (keys) keys.hidden = false;

let sent = false;
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target === note) {
    if (event.key === 'Escape') note.blur();
    return;
  }
  const key = event.key.toLowerCase();
  if (key === 'n') {
    event.preventDefault();
    note.focus();
    return;
  }
  const target = [...form.querySelectorAll('[data-key]')].find((one) => one.dataset.key === key);
  if (!target || sent) return;
  event.preventDefault();
  target.click();
});

// One label for one press, however fast the next one comes.
form.addEventListener('submit', (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener('pageshow', () => {
  sent = false;
});
