// The drawer among SillyTavern's extension settings.

import { element } from './elements.js';
import { explain } from './explain.js';
import { memoriesSection } from './memories_page.js';
import { recallSection } from './recall_page.js';
import { peopleSection, settingsSections } from './settings_page.js';

export class Page {
    #host;
    #content = element('div', { className: 'inline-drawer-content' });
    #settings = element('div');
    #writing = element('div', { className: 'ebbing-hint', id: 'ebbing_writing', role: 'status' });
    #reports = element('div', { id: 'ebbing_reports' });
    #chat = element('div');

    constructor(host) {
        this.#host = host;
    }

    attach() {
        const icon = element('div', { className: 'inline-drawer-icon fa-solid fa-circle-chevron-down down' });
        const header = element('div', { className: 'inline-drawer-toggle inline-drawer-header' },
            element('b', {}, this.#host.say('title')), icon);
        this.#content.append(this.#settings, this.#writing, this.#reports, this.#chat);
        const drawer = element('div', { className: 'inline-drawer', id: 'ebbing_drawer' }, header, this.#content);
        document.getElementById('extensions_settings2').append(drawer);
        this.draw();
    }

    /** Draw everything anew: another chat, persona or group. */
    draw() {
        this.#settings.replaceChildren(...settingsSections(this.#host));
        this.#chat.replaceChildren(peopleSection(this.#host), memoriesSection(this.#host));
        this.showReports();
    }

    showReports() {
        this.#reports.replaceChildren(recallSection(this.#host, this.#host.reports));
    }

    /** Say what became of the last write: nothing went wrong where `code` is empty. */
    showWriting(code) {
        const { say } = this.#host;
        this.#writing.textContent = code ? say('writeFailed', { reason: explain(say, code) }) : say('written');
    }
}
