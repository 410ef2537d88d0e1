// Elements of the page. Words are always set as text, never as HTML: a memory may hold anything.

/** Make an element: `element('p', {className: 'hint'}, 'words', child)`. A property `onclick` listens. */
export function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children.filter(child => child !== null && child !== undefined && child !== ''));
    return made;
}

export function button(label, onclick, properties = {}) {
    return element('button', { type: 'button', className: 'menu_button', onclick, ...properties }, label);
}

/** A small button that shows a picture; its label is what a pointer or a screen reader says. */
export function iconButton(icon, label, onclick) {
    const picture = element('i', { className: `fa-solid ${icon}` });
    return button(picture, onclick, { title: label, ariaLabel: label, className: 'menu_button ebbing-icon' });
}

export function checkbox(label, { id, checked, disabled = false, onChange }) {
    const box = element('input', { type: 'checkbox', id, checked, disabled, onchange: () => onChange(box.checked) });
    return element('label', { className: 'checkbox_label ebbing-check' }, box, element('span', {}, label));
}

/** A field with its label above it. `type` is that of an input, or `textarea`. */
export function field(label, { id, value, onChange, type = 'text', ...rest }) {
    const tag = type === 'textarea' ? 'textarea' : 'input';
    const kind = tag === 'input' ? { type } : {};
    const input = element(tag, { id, value, className: 'text_pole', onchange: () => onChange(input.value), ...kind, ...rest });
    return element('label', { className: 'ebbing-field' }, element('span', {}, label), input);
}

export function choice(label, { id, value, options, onChange }) {
    const select = element('select', { id, className: 'text_pole', onchange: () => onChange(select.value) });
    for (const [name, text] of options) {
        select.append(element('option', { value: name }, text));
    }
    select.value = value;
    return element('label', { className: 'ebbing-field' }, element('span', {}, label), select);
}

export function section(title, ...children) {
    return element('section', { className: 'ebbing-section' }, element('h4', {}, title), ...children);
}

export function hint(text) {
    return element('small', { className: 'ebbing-hint' }, text);
}
