/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page.h - the page of the command html: the contents of page.html, page.css and page_*.js. */
#ifndef POSIXTRACE_PICTURE_PAGE_H
#define POSIXTRACE_PICTURE_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[], page_css[], page_items_js[], page_paint_js[],
	page_rows_js[], page_curves_js[], page_links_js[], page_view_js[], page_panels_js[],
	page_flame_js[], page_hands_js[], page_states_js[], page_chosen_js[], page_search_js[];
extern const size_t page_html_bytes, page_css_bytes, page_items_js_bytes, page_paint_js_bytes,
	page_rows_js_bytes, page_curves_js_bytes, page_links_js_bytes, page_view_js_bytes,
	page_panels_js_bytes, page_flame_js_bytes, page_hands_js_bytes,
	page_states_js_bytes, page_chosen_js_bytes, page_search_js_bytes;

#endif
