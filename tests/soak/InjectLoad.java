/* SPDX-License-Identifier: LGPL-2.1-or-later */
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/** Threads that allocate, read files, and handle exceptions and null pointers (SIGSEGV). */
public class InjectLoad {
	static volatile boolean over;

	static long work(Path file) throws Exception {
		List<String> list = new ArrayList<>();
		String nothing = list.isEmpty() ? null : "";
		long sum = Files.readAllBytes(file).length;

		for (int i = 0; i < 10000; i++)
			list.add("x" + i);
		for (String text : list)
			sum += text.length();
		try {
			throw new IllegalStateException();
		} catch (IllegalStateException e) {
			sum++;
		}
		try {
			sum += nothing.length();
		} catch (NullPointerException e) {
			sum++;
		}
		return sum;
	}

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(4);
		Path file = Path.of("/etc/passwd");
		long wanted = work(file), rounds = 0;
		Thread reader = new Thread(() -> {
			try {
				while (System.in.read() >= 0)
					;
			} catch (Exception e) {
			}
			over = true;
		});

		reader.start();
		while (!over) {
			List<Future<Long>> results = new ArrayList<>();
			for (int i = 0; i < 8; i++)
				results.add(pool.submit(() -> work(file)));
			for (Future<Long> result : results)
				if (result.get() != wanted) {
					System.out.println("wrong: " + result.get());
					System.exit(1);
				}
			rounds += results.size();
			Thread.sleep(2);
		}
		pool.shutdown();
		System.out.println("sound: " + rounds + " rounds");
	}
}
