// What an outcome or an error means, and what to do.

import { isText } from './texts.js';

/** Return a sentence for a code of the service or of `memory/service.js`. */
export function explain(say, code) {
    return say(isText(code) ? code : 'refused', { code, origin: globalThis.location?.origin });
}
