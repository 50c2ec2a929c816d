/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * left_out.c - replaces the files that load and run templates, after configure --disable-templates.
 * report then refuses -t, so no template is loaded or run.
 */
#include <errno.h>
#include <string.h>

#include "report/template/diag.h"
#include "report/template/load.h"
#include "report/template/run.h"

void templates_init(struct templates *templates)
{
	memset(templates, 0, sizeof(*templates));
}

void templates_fini(struct templates *templates)
{
	(void)templates;
}

int templates_load(struct templates *templates, const char *path)
{
	(void)templates;
	(void)path;
	return ENOTSUP;
}

bool templates_link(struct templates *templates)
{
	(void)templates;
	return true;
}

const struct template *templates_for_event(const struct templates *templates, const char *name,
					   uint32_t id)
{
	(void)templates;
	(void)name;
	(void)id;
	return NULL;
}

void diag_report(struct diags *diags)
{
	(void)diags;
}

void run_init(struct run *run, const struct templates *templates, const char *log_name)
{
	(void)templates;
	(void)log_name;
	memset(run, 0, sizeof(*run));
}

void run_fini(struct run *run)
{
	(void)run;
}

bool run_event(struct run *run, const struct template *template,
	       const struct template_event *event)
{
	(void)run;
	(void)template;
	(void)event;
	return false;
}
