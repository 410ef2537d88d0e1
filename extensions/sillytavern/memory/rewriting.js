// The third rung: what the chat's own model is asked, and which of its answers can be searched for.

const CONVERSATION_CHARACTERS = 1_200;
const QUERY_CHARACTERS = 300;

/** Return what the model is shown, as JSON. */
export function rewriteRequest(question, conversation, { names, turns }) {
    const lines = conversation.slice(-turns).map(message => `${message.name}: ${message.mes}`);
    return JSON.stringify({
        user_name: names.user,
        char_name: names.character,
        user_question: question,
        recent_conversation: lines.join('\n').slice(-CONVERSATION_CHARACTERS),
    });
}

/** Return whether an answer is one plain line. */
export function isUsable(line) {
    return line.length > 0 && line.length <= QUERY_CHARACTERS && !/[\n`*#{}]/.test(line);
}
