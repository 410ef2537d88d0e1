// The settings page: connection, what happens before and after an answer, and who is who.

import { agentId, userId } from '../memory/owners.js';
import { bounded, PROMPT_POSITIONS, REWRITE_PROMPT } from '../memory/settings.js';
import { button, checkbox, choice, element, field, hint, section } from './elements.js';

/** @param host what the page needs of SillyTavern and the memory, see `index.js` */
export function settingsSections(host) {
    return [connection(host), beforeAnswer(host), afterAnswer(host)];
}

/** Who is who, in the chat that is open. */
export function peopleSection({ say, settings, save, whoIsHere }) {
    const { persona, personaName, characters } = whoIsHere();
    const rows = [row(say('persona'), personaName, {
        id: 'ebbing_user', value: userId(settings, persona), onChange: value => name(settings.people, persona, value),
    })];
    for (const character of characters) {
        rows.push(row(say('character'), character.name, {
            id: `ebbing_agent_${character.avatar}`, value: agentId(settings, character),
            onChange: value => name(settings.characters, character.avatar, value),
        }));
    }
    return section(say('people'), hint(say('peopleHint')), ...rows);

    function row(kind, shown, { id, value, onChange }) {
        return field(`${kind}: ${shown}`, { id, value, title: say('memoryName'), onChange });
    }

    function name(names, file, value) {
        delete names[file];
        if (value.trim()) {
            names[file] = value.trim();
        }
        save();
    }
}

function connection(host) {
    const { say, settings, save } = host;
    const status = element('div', { className: 'ebbing-status', id: 'ebbing_status', role: 'status' });
    const set = name => value => {
        settings[name] = value.trim();
        save();
        host.service.endPause();
    };
    return section(
        say('connection'),
        checkbox(say('enabled'), { id: 'ebbing_enabled', ...toggle(host, 'enabled') }),
        field(say('address'), { id: 'ebbing_address', value: settings.address, onChange: set('address') }),
        field(say('key'), { id: 'ebbing_key', value: settings.key, type: 'password', autocomplete: 'off', onChange: set('key') }),
        hint(say('keyHint')),
        button(say('check'), async () => {
            status.textContent = say('checking');
            status.textContent = await host.checkConnection();
        }, { id: 'ebbing_check' }),
        status,
    );
}

function beforeAnswer(host) {
    const { say, settings } = host;
    return section(
        say('before'),
        numbers(
            number(host, 'budget', { name: 'budgetMilliseconds', bounds: [100, 10_000] }),
            number(host, 'maxTokens', { name: 'maxTokens', bounds: [100, 8_000] }),
            number(host, 'maxMemories', { name: 'maxMemories', bounds: [1, 50] }),
            number(host, 'minScore', { name: 'minScore', bounds: [0, 1], step: 0.05 }),
        ),
        checkbox(say('rungQuestion'), { id: 'ebbing_rung_question', checked: true, disabled: true }),
        checkbox(say('rungConversation'), { id: 'ebbing_rung_conversation', ...toggle(host, 'useConversation') }),
        checkbox(say('rungRewrite'), { id: 'ebbing_rewrite', ...toggle(host, 'rewrite') }),
        numbers(
            number(host, 'turns', { name: 'turns', bounds: [1, 20] }),
            number(host, 'rewriteWait', { name: 'rewriteMilliseconds', bounds: [500, 20_000] }),
        ),
        promptBox(host),
        choice(say('position'), {
            id: 'ebbing_position',
            value: String(settings.position),
            options: [
                [String(PROMPT_POSITIONS.afterMain), say('positionAfterMain')],
                [String(PROMPT_POSITIONS.beforeMain), say('positionBeforeMain')],
                [String(PROMPT_POSITIONS.inChat), say('positionInChat')],
            ],
            onChange: value => { settings.position = Number(value); host.save(); },
        }),
        number(host, 'depth', { name: 'depth', bounds: [0, 100] }),
    );
}

function promptBox(host) {
    const { say, settings, save } = host;
    const box = field(say('rewritePrompt'), {
        id: 'ebbing_rewrite_prompt', type: 'textarea', rows: 5, value: settings.rewritePrompt,
        onChange: value => { settings.rewritePrompt = value; save(); },
    });
    const reset = button(say('resetPrompt'), () => {
        settings.rewritePrompt = REWRITE_PROMPT;
        box.querySelector('textarea').value = REWRITE_PROMPT;
        save();
    });
    return element('div', {}, box, reset);
}

function afterAnswer(host) {
    const { say } = host;
    const status = element('span', { className: 'ebbing-status' });
    return section(
        say('after'),
        checkbox(say('write'), { id: 'ebbing_write', ...toggle(host, 'write') }),
        checkbox(say('dropDirections'), { id: 'ebbing_drop_directions', ...toggle(host, 'dropDirections') }),
        checkbox(say('privateChat'), { id: 'ebbing_private', checked: host.isPrivate(), onChange: host.setPrivate }),
        button(say('forgetChat'), async () => { status.textContent = await host.forgetChat(); }, { id: 'ebbing_forget_chat' }),
        status,
    );
}

function toggle({ settings, save }, name) {
    return { checked: settings[name], onChange: checked => { settings[name] = checked; save(); } };
}

function numbers(...fields) {
    return element('div', { className: 'ebbing-numbers' }, ...fields);
}

function number({ say, settings, save }, text, { name, bounds, step = 1 }) {
    const id = `ebbing_${name}`;
    return field(say(text), {
        id, type: 'number', min: bounds[0], max: bounds[1], step, value: settings[name],
        onChange: value => {
            settings[name] = bounded(name, value, bounds);
            document.getElementById(id).value = settings[name];
            save();
        },
    });
}
