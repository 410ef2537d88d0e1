// What a message says. In a role play *he sighs* is stage direction: read as speech it would hide the facts beside it.

const DIRECTION = /(^|[.!?。！？…~～"”」』)）\n]\s*)\*(?!\*)[^*\n]+\*(?!\*)/g;
const EMPHASIS = /\*{1,3}([^*\n]+)\*{1,3}/g;

/** Return the words of a message that are spoken; all of them where nothing else is there. */
export function spokenWords(text, dropDirections) {
    const whole = (text ?? '').trim();
    if (!dropDirections) {
        return whole;
    }
    const left = whole.replace(DIRECTION, '$1').replace(EMPHASIS, '$1').replace(/[ \t]{2,}/g, ' ').trim();
    return /[\p{L}\p{N}]/u.test(left) ? left : whole.replace(EMPHASIS, '$1');
}
