// What was put into the last prompts, and why.

import { element, hint, section } from './elements.js';
import { explain } from './explain.js';

/** @param reports what `recall` returned, newest first, each with the `character` who was about to answer */
export function recallSection({ say }, reports) {
    if (!reports.length) {
        return section(say('last'), hint(say('nothingYet')));
    }
    return section(say('last'), ...reports.map((report, place) => reportView(say, report, place === 0)));
}

function reportView(say, report, open) {
    const line = say('lastLine', { ...report, outcome: explain(say, report.code) });
    const parts = [element('summary', {}, line)];
    if (report.question) {
        parts.push(hint(say('askedFor', { query: report.question })));
    }
    if (report.rewritten) {
        parts.push(hint(say('rewritten', { query: report.rewritten })));
    }
    if (report.block) {
        parts.push(hint(say(`rung_${report.rung}`)));
        parts.push(element('ul', {}, ...report.memories.map(memory => memoryLine(say, memory))));
        parts.push(element('details', {}, element('summary', {}, say('wholeBlock')), element('pre', {}, report.block)));
    }
    return element('details', { open, className: 'ebbing-report' }, ...parts);
}

function memoryLine(say, memory) {
    const why = [say(`group_${memory.group}`)];
    if (typeof memory.score === 'number') {
        why.push(say('score', { score: memory.score.toFixed(2) }));
    }
    why.push(memory.created_at.slice(0, 10));
    return element('li', {}, element('span', { className: 'ebbing-text' }, memory.text), hint(why.join(' · ')));
}
