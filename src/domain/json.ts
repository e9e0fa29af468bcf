/** A value that JSON can hold. Arguments, results, row images and evidence are made of these. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };
