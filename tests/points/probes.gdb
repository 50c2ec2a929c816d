# Prints the arguments of the probes of probes.c.
set debuginfod enabled off
set pagination off
break -probe-stap posixtrace:integers
break -probe-stap posixtrace:numbers
break -probe-stap posixtrace:pointers
break -probe-stap posixtrace:none
break -probe-stap posixtrace:twelve
run
printf ">%d: %d %d %d ", $_probe_argc, $_probe_arg0, $_probe_arg1, $_probe_arg2
printf "%ld %d %d ", $_probe_arg3, $_probe_arg4, $_probe_arg5
printf "%u %lu %d\n", $_probe_arg6, $_probe_arg7, $_probe_arg8
continue
printf ">%d: %x %lx %x ", $_probe_argc, $_probe_arg0, $_probe_arg1, $_probe_arg2
printf "%lx %lx\n", $_probe_arg3, $_probe_arg4
continue
printf ">%d: %s %s ", $_probe_argc, (char *)$_probe_arg0, (char *)$_probe_arg1
printf "%ld %d ", $_probe_arg2, ((int *)$_probe_arg3)[1]
printf "%d %ld\n", $_probe_arg4, $_probe_arg5
continue
printf ">%d\n", $_probe_argc
continue
printf ">%d: %d %d %d\n", $_probe_argc, $_probe_arg0, $_probe_arg5, $_probe_arg11
continue
