// Writing what was said, behind the chat: nobody waits for it, and what fails is tried again at the next occasion.

import { noteWritten, plan, removalsOf } from './ledger.js';

const QUIET_MILLISECONDS = 500;
const ABOUT_THE_MESSAGE = new Set([400, 413, 422]);

export class Writer {
    #service;
    #settings;
    #onChange;
    #timer;
    #queue = Promise.resolve();

    /** @param onChange is called after the memory changed, or failed to, with an error code or '' */
    constructor({ service, settings, onChange }) {
        this.#service = service;
        this.#settings = settings;
        this.#onChange = onChange;
    }

    /** Bring the memory up to date soon with a chat as it is now: `{chat, ledger, run, save}`, `chat` being a copy of the list. */
    schedule(open) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.flush(open), QUIET_MILLISECONDS);
    }

    /** Bring the memory up to date with a chat. `settled` says that its last answers will not be swiped any more. */
    flush(open, { settled = false, keepalive = false } = {}) {
        if (!open || !this.#settings.enabled || !this.#settings.write) {
            return this.#queue;
        }
        this.#queue = this.#queue.then(() => this.#bringUpToDate(open, { settled, keepalive }));
        return this.#queue;
    }

    async #bringUpToDate(open, { settled, keepalive }) {
        const { dropDirections } = this.#settings;
        const { writes, removals } = plan(open.chat, open.ledger, { run: open.run, settled, dropDirections });
        const acts = [
            ...removals.map(id => () => this.#remove(open.ledger, id)),
            ...writes.map(write => () => this.#write(open, write, keepalive)),
        ];
        let code = '';
        for (const act of acts) {
            code ||= await this.#attempt(act);
        }
        if (writes.length || removals.length) {
            open.save();
            this.#onChange(code);
        }
    }

    async #attempt(act) {
        try {
            await act();
            return '';
        } catch (error) {
            console.warn(`Ebbing: the memory was not brought up to date (${error.code ?? error.name})`);
            return error.code ?? 'unreachable';
        }
    }

    async #remove(ledger, id) {
        const { user, sources } = removalsOf(ledger, id);
        for (const source of sources) {
            await this.#service.removeMessage(user, source);
        }
        delete ledger[id];
    }

    async #write(open, write, keepalive) {
        const { user, agent, messages, notes } = write;
        try {
            await this.#service.add({ user_id: user, agent_id: agent, run_id: open.run, messages }, { keepalive });
        } catch (error) {
            if (!ABOUT_THE_MESSAGE.has(error.status)) {
                throw error;
            }
            if (messages.length > 1) {
                for (const [place, message] of messages.entries()) {
                    await this.#write(open, { user, agent, messages: [message], notes: [notes[place]] }, keepalive);
                }
                return;
            }
            console.warn(`Ebbing: one message was refused and is left out (${error.code})`);
        }
        noteWritten(open.ledger, write);
    }
}
