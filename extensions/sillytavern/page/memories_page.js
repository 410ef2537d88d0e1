// The memories of a person with a character: read, search, edit, pin and forget in place.

import { button, checkbox, choice, element, hint, iconButton, section } from './elements.js';
import { explain } from './explain.js';

const PIN = 'pinned';

export function memoriesSection(host) {
    const { say, service } = host;
    const list = element('div', { className: 'ebbing-memories', id: 'ebbing_memories' });
    const more = element('div');
    const query = element('input', { type: 'search', className: 'text_pole', id: 'ebbing_query', placeholder: say('find') });
    const { owners } = host.whoIsHere();
    let owner = owners[0]?.owner;
    let include = 'memories';
    const show = () => guarded(list, say, async () => {
        const text = query.value.trim();
        const page = text ? await service.search(owner, text, include) : await service.list(owner, { include });
        list.replaceChildren();
        append(page);
        if (!page.memories.length) {
            list.append(hint(say('noMemories')));
        }
    });
    const append = page => {
        list.append(...page.memories.map(memory => memoryRow(host, memory, owner)));
        const next = () => guarded(more, say, async () => append(await service.list(owner, { include, cursor: page.next_cursor })));
        more.replaceChildren(...(page.next_cursor ? [button(say('more'), next)] : []));
    };
    query.onkeydown = event => event.key === 'Enter' && show();
    const whose = choice(`${say('persona')} · ${say('character')}`, {
        id: 'ebbing_whose', value: '0', options: owners.map(({ label }, place) => [String(place), label]),
        onChange: place => { owner = owners[Number(place)].owner; show(); },
    });
    const words = checkbox(say('withWords'), { id: 'ebbing_words', checked: false, onChange: checked => {
        include = checked ? 'all' : 'memories';
        show();
    } });
    const bar = element('div', { className: 'ebbing-bar' }, query, button(say('show'), show, { id: 'ebbing_show' }));
    return section(say('memories'), ...(owner ? [whose, bar, words, list, more] : [hint(say('noMemories'))]));
}

function memoryRow(host, memory, owner) {
    const row = element('div', { className: 'ebbing-memory' });
    row.dataset.id = memory.id;
    draw(host, row, { memory, owner });
    return row;
}

function draw(host, row, { memory, owner }) {
    const { say, service } = host;
    const pinned = memory.tags?.includes(PIN);
    const redraw = changed => draw(host, row, { memory: { ...memory, ...changed }, owner });
    const setPin = () => guarded(row, say, async () => {
        const tags = (memory.tags ?? []).filter(tag => tag !== PIN).concat(pinned ? [] : [PIN]);
        redraw(await service.update(memory.id, owner, { tags }));
    });
    const forget = () => guarded(row, say, async () => {
        await service.forget(memory.id, owner);
        row.replaceChildren(hint(say('forgotten')), button(say('undo'), () => guarded(row, say, async () => {
            redraw(await service.restore(memory.id, owner));
        })));
    });
    const facts = [say(memory.kind === 'episode' ? 'kind_episode' : 'kind_memory'), memory.created_at.slice(0, 10)];
    if (typeof memory.score === 'number') {
        facts.push(say('score', { score: memory.score.toFixed(2) }));
    }
    row.classList.toggle('ebbing-pinned', Boolean(pinned));
    row.replaceChildren(
        element('div', {}, element('div', { className: 'ebbing-text' }, memory.text), hint(facts.join(' · '))),
        element('div', { className: 'ebbing-actions' },
            iconButton('fa-thumbtack', say(pinned ? 'unpin' : 'pin'), setPin),
            iconButton('fa-pencil', say('edit'), () => openEditor(host, row, { memory, owner, redraw })),
            iconButton('fa-trash-can', say('forget'), forget)),
    );
}

function openEditor({ say, service }, row, { memory, owner, redraw }) {
    const words = element('textarea', { className: 'text_pole', value: memory.text, rows: 3 });
    const save = () => guarded(row, say, async () => {
        redraw(await service.update(memory.id, owner, { text: words.value }));
    });
    row.replaceChildren(words, element('div', { className: 'ebbing-actions' },
        button(say('save'), save), button(say('cancel'), () => redraw({}))));
}

/** Do something; where it fails, say why in this place. */
async function guarded(place, say, act) {
    place.querySelector(':scope > .ebbing-error')?.remove();
    try {
        await act();
    } catch (error) {
        place.append(element('div', { className: 'ebbing-error' }, explain(say, error.code ?? 'refused')));
    }
}
