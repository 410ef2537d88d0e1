// What a person can set, and how it is kept: in SillyTavern's own settings, under one name.

export const SETTINGS_NAME = 'ebbing';

export const PROMPT_POSITIONS = { afterMain: 0, inChat: 1, beforeMain: 2 };

export const REWRITE_PROMPT = [
    'You turn a question from a chat into one search query for a memory of earlier chats.',
    'You get JSON with user_name, char_name, user_question and recent_conversation.',
    'Write one line, in the language of user_question, that can be understood without the conversation:',
    'name the people and things that the question points to.',
    'Write the line alone: no explanation, no quotation marks, no markdown.',
].join('\n');

const DEFAULTS = {
    enabled: true,
    address: 'http://127.0.0.1:8830',
    key: '',
    budgetMilliseconds: 1500,
    maxTokens: 600,
    maxMemories: 5,
    minScore: 0.05,
    useConversation: true,
    turns: 6,
    rewrite: false,
    rewritePrompt: REWRITE_PROMPT,
    rewriteMilliseconds: 2500,
    position: PROMPT_POSITIONS.afterMain,
    depth: 4,
    write: true,
    dropDirections: true,
    people: {},
    characters: {},
};

/** Return the settings that SillyTavern keeps, with what is missing filled in. */
export function loadSettings(extensionSettings) {
    const stored = extensionSettings[SETTINGS_NAME] ?? {};
    extensionSettings[SETTINGS_NAME] = { ...structuredClone(DEFAULTS), ...stored };
    return extensionSettings[SETTINGS_NAME];
}

/** Return a number within its bounds; what is no number becomes the default. */
export function bounded(name, value, [least, most]) {
    const number = Number(value);
    return value === '' || !Number.isFinite(number) ? DEFAULTS[name] : Math.min(most, Math.max(least, number));
}
