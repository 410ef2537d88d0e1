// Who is who: a persona is a user of the memory, a character an agent, a chat a run.
// SillyTavern names personas and characters by the file of their picture, which a change of the shown name leaves alone.

/** Return the persona that wrote a message; the one in use where the message names none. */
export function personaOf(message, currentPersona) {
    const file = /[?&]file=([^&]+)/.exec(message?.force_avatar ?? '')?.[1];
    return file ? decodeURIComponent(file) : currentPersona;
}

/** Return the user id of a persona. */
export function userId(settings, persona) {
    return settings.people[persona] || withoutEnding(persona || 'user');
}

/** Return the agent id of a character. */
export function agentId(settings, character) {
    return settings.characters[character.avatar] || withoutEnding(character.avatar);
}

/** Return the run id of a chat: it stays when the chat is renamed, and a branch has its own. */
export function runId(context) {
    return context.chatMetadata?.integrity ?? context.chatId;
}

/** Return the characters who hear what is said in the chat that is open. */
export function listeners(context) {
    if (!context.groupId) {
        const character = context.characters[context.characterId];
        return character ? [character] : [];
    }
    const group = context.groups.find(each => each.id === context.groupId);
    const muted = group?.disabled_members ?? [];
    const present = (group?.members ?? []).filter(avatar => !muted.includes(avatar));
    return present.map(avatar => context.characters.find(each => each.avatar === avatar)).filter(Boolean);
}

/** Return the character who wrote a message. */
export function speaker(context, message) {
    const avatar = message.original_avatar ?? context.characters[context.characterId]?.avatar;
    return context.characters.find(each => each.avatar === avatar);
}

/** Keep the memories of a character whose picture has another file now. */
export function followRename(settings, oldAvatar, newAvatar) {
    settings.characters[newAvatar] = agentId(settings, { avatar: oldAvatar });
    delete settings.characters[oldAvatar];
}

function withoutEnding(file) {
    return file.replace(/\.[a-z]+$/i, '');
}
