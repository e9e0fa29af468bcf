/** The sheet of the words and timelines of a comparison, which a page that has any needs. */
export const COMPARED = new URL('./assets/compared.css', import.meta.url);
